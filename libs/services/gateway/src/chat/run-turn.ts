import { type EngineEntry, isTerminal, noUsage, type RunCompletedEntry, type StreamBody, type Usage } from '@conclave/contracts';

/** The entry by which a run asks its user. */
export type QuestionEntry = Extract<EngineEntry, { kind: 'question.asked' }>;

/** Where a turn of a conversation begins in a run: at the start of the run, or at the answer to one of its questions. */
export interface TurnStart {
  /** Number of the command with the answer; null for the first turn. */
  readonly answer: number | null;
  /** Usage that earlier turns reported. */
  readonly usage: Usage;
  /** The same answer may have been sent by an earlier request. */
  readonly mayRepeat: boolean;
}
export const firstTurn: TurnStart = { answer: null, usage: noUsage, mayRepeat: false };

/** Usage since an earlier reading of the same run. */
export const usageSince = (now: Usage, before: Usage): Usage => ({
  calls: now.calls - before.calls,
  prompt: now.prompt - before.prompt,
  completion: now.completion - before.completion,
  reasoning: now.reasoning - before.reasoning,
  cost: Math.max(0, now.cost - before.cost),
  estimated: now.estimated,
});

/** The entries of a run that one turn of a conversation shows, with the usage since the turn began. */
export class RunTurn {
  private hasBegun: boolean;

  constructor(private readonly start: TurnStart) {
    this.hasBegun = start.answer === null;
  }

  /** Leaves out what earlier turns have shown. The end of a run belongs to every turn. */
  take(entries: readonly StreamBody[]): readonly StreamBody[] {
    return entries.flatMap((entry): StreamBody[] => {
      if (isTerminal(entry)) return [this.ended(entry)];
      if (this.hasBegun) return [entry];
      this.hasBegun = entry.kind === 'command.accepted' && entry.seq === this.start.answer;
      return [];
    });
  }

  /** Whether the entry says that the run rejected the answer of this turn. */
  refuses(entry: StreamBody): entry is Extract<EngineEntry, { kind: 'command.rejected' }> {
    return entry.kind === 'command.rejected' && entry.seq === this.start.answer && !this.start.mayRepeat;
  }

  usageOf(now: Usage): Usage {
    return usageSince(now, this.start.usage);
  }

  private ended(entry: RunCompletedEntry): RunCompletedEntry {
    return { ...entry, usage: this.usageOf(entry.usage) };
  }
}
