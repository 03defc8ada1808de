import type { Snapshot, StreamEntry } from '@conclave/contracts';

type Completed = Extract<StreamEntry, { kind: 'run.completed' }>;

/** A task according to the events of a run. Nothing is inferred: a task stays `planned` until an event says otherwise. */
export interface LiveTask {
  readonly id: string;
  /** Its name inside its plan, such as `r1`. */
  readonly name: string;
  readonly epoch: number;
  readonly capability: string;
  readonly text: string;
  /** Ids of tasks of the same plan that it waits for. */
  readonly needs: readonly string[];
  /** Whether it is part of a plan; judges and repeats of unsure experts are not. */
  readonly planned: boolean;
  /** `planned`, `open`, or the status of its result: `ok`, `error`, `repeated`, ... */
  readonly state: string;
  readonly openedAt: number | null;
  readonly settledAt: number | null;
  /** Number of the event that opened it, and of the event that settled it. */
  readonly openedBy: number | null;
  readonly settledBy: number | null;
  /** Last progress line of its worker. */
  readonly progress: string | null;
  readonly summary: string;
  readonly confidence: number | null;
  readonly facts: number;
  readonly durationMs: number | null;
  /** Number of attempts seen; each attempt after the first replaced another one. */
  readonly attempts: number;
  /** Score of an evaluated step of `reasoning`. */
  readonly score: { readonly mean: number; readonly quality: string } | null;
}

export interface LiveRound {
  readonly epoch: number;
  /** The planner's own words. */
  readonly says: string | null;
  readonly fallback: boolean;
  /** Ids of its tasks, planned ones first, in order of arrival. */
  readonly tasks: readonly string[];
  /** Gap that it was planned for; null for the first pass. */
  readonly aim: string | null;
  /** Gap that remained after it: null while not assessed, empty if nothing is missing. */
  readonly gap: string | null;
  readonly decision: Decision | null;
  /** Number of the event that brought its plan. */
  readonly plannedBy: number | null;
}

export interface Decision {
  readonly epoch: number;
  readonly rule: string;
  readonly sentence: string;
  /** Number of the deciding event. */
  readonly seq: number;
}

/** A gap that was found, in the words of the assessment. */
export interface LiveGap {
  readonly text: string;
  /** Round after which it was found. */
  readonly opened: number;
  /** Rounds that were planned for it. */
  readonly addressed: readonly number[];
  /** Rounds after which it was found again, in the same words. */
  readonly carried: readonly number[];
  /** Round after which it was no longer found; null while that has not been assessed. */
  readonly closed: number | null;
}

export interface LiveCommand {
  readonly seq: number;
  readonly name: string;
  readonly text: string | null;
  readonly actor: string;
  readonly state: 'accepted' | 'applied' | 'rejected';
  /** Number of the event that acknowledged it last, and its round or reason. */
  readonly by: number;
  readonly round: number | null;
  readonly reason: string | null;
}

/** A run according to its events up to a number. */
export interface LiveRun {
  /** Number of the last event; 0 before the first. */
  readonly seq: number;
  readonly template: string | null;
  readonly strategy: string | null;
  readonly question: string | null;
  readonly maxRounds: number | null;
  /** The strategy's word for a round. */
  readonly roundName: string;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly rounds: readonly LiveRound[];
  readonly tasks: ReadonlyMap<string, LiveTask>;
  readonly gaps: readonly LiveGap[];
  readonly decisions: readonly Decision[];
  readonly commands: readonly LiveCommand[];
  readonly waitsFor: { readonly question: string; readonly deadline: number } | null;
  readonly paused: boolean;
  /** One line about its current activity. */
  readonly now: string | null;
  readonly answer: string;
  /** How often the beginning of the answer was taken back. */
  readonly takenBack: number;
  readonly end: Completed | null;
  /** Numbers of events that are no longer in the stream. */
  readonly missing: readonly { readonly from: number; readonly to: number }[];
}

const localName = (id: string): string => id.split('/').at(-1) ?? id;
const epochOf = (id: string): number => Number(id.split('/').at(-2) ?? 0) || 0;
const isWork = (id: string): boolean => !id.endsWith('/plan');

/** Folds the events of a run, in order of their numbers; repeats change nothing. Pure except for its own state. */
export class RunFold {
  private seq = 0;
  private start: Extract<StreamEntry, { kind: 'run.started' }> | null = null;
  private readonly tasks = new Map<string, LiveTask>();
  private readonly lastAttempt = new Map<string, number>();
  private readonly rounds = new Map<number, LiveRound>();
  private gaps: LiveGap[] = [];
  private readonly decisions: Decision[] = [];
  private readonly commands = new Map<number, LiveCommand>();
  private question: LiveRun['waitsFor'] = null;
  private paused = false;
  private now: string | null = null;
  private answer = '';
  private draft = '';
  private composing: { readonly task: string; readonly live: boolean; attempt: number } | null = null;
  private takenBack = 0;
  private end: Completed | null = null;
  private readonly missing: { from: number; to: number }[] = [];

  /** Folds entries up to a number, or all of them. */
  static upTo(entries: readonly StreamEntry[], seq = Number.POSITIVE_INFINITY): LiveRun {
    const fold = new RunFold();
    for (const entry of entries) if (entry.id <= seq) fold.take(entry);
    return fold.run();
  }

  /** Of everything up to the snapshot's last number, only the answer so far is known. */
  takeSnapshot({ last, text }: Snapshot): void {
    if (last <= this.seq) return;
    this.missing.push({ from: this.seq + 1, to: last });
    this.seq = last;
    this.answer = text;
    this.draft = text;
  }

  take(entry: StreamEntry): void {
    // A snapshot covers the last entry of an ended run too, but that entry still follows.
    if (entry.id <= this.seq && !(entry.kind === 'run.completed' && this.end === null)) return;
    if (entry.id > this.seq + 1) this.missing.push({ from: this.seq + 1, to: entry.id - 1 });
    this.seq = entry.id;
    switch (entry.kind) {
      case 'run.started':
        this.start = entry;
        return;
      case 'planning':
        this.now = 'Plans';
        return this.round(entry.epoch, {});
      case 'replanning':
        this.now = `Plans again: ${entry.gap}`;
        this.gaps = this.gaps.map((gap) =>
          gap.closed === null && gap.text === entry.gap ? { ...gap, addressed: [...gap.addressed, entry.iteration] } : gap,
        );
        return this.round(entry.iteration, { aim: entry.gap });
      case 'plan.ready':
        return this.plan(entry);
      case 'task.dispatched':
        this.now = null;
        return this.task(entry.taskId, { state: 'open', capability: entry.capability, openedAt: entry.at, openedBy: entry.id });
      case 'task.settled':
        return this.task(entry.taskId, {
          state: entry.status,
          capability: entry.capability,
          summary: entry.summary,
          confidence: entry.confidence,
          facts: entry.facts,
          durationMs: entry.durationMs,
          settledAt: entry.at,
          settledBy: entry.id,
        });
      case 'progress':
        this.now = entry.text;
        if (isWork(entry.taskId)) this.task(entry.taskId, { progress: entry.text, ...this.attempt(entry, 0) });
        return;
      case 'assessed':
        return this.assessed(entry.epoch, entry.gap);
      case 'decided': {
        const decision = { epoch: entry.epoch, rule: entry.rule, sentence: entry.sentence, seq: entry.id };
        this.decisions.push(decision);
        return this.round(entry.epoch, { decision });
      }
      case 'thought':
        if (entry.score && entry.taskId) this.task(entry.taskId, { score: entry.score });
        else this.now = entry.text;
        return;
      case 'stage':
        this.now = entry.text;
        return;
      case 'composing':
        this.now = 'Writes the answer';
        this.composing = { task: entry.taskId, live: entry.stream === 'live', attempt: 0 };
        this.begin(0);
        return;
      case 'chunk':
        return this.chunk(entry);
      case 'superseded':
        if (isWork(entry.taskId)) this.task(entry.taskId, this.attempt(entry, 1));
        if (entry.taskId === this.composing?.task) this.begin(entry.attempt);
        return;
      case 'command.accepted':
        this.commands.set(entry.seq, {
          seq: entry.seq,
          name: entry.name,
          text: entry.text ?? null,
          actor: entry.actor,
          state: 'accepted',
          by: entry.id,
          round: null,
          reason: null,
        });
        return;
      case 'command.applied':
        if (entry.name === 'pause') this.paused = true;
        if (entry.name === 'resume') this.paused = false;
        if (entry.name === 'answer') this.question = null;
        return this.command(entry.seq, { state: 'applied', by: entry.id, round: entry.epoch, name: entry.name });
      case 'command.rejected':
        return this.command(entry.seq, { state: 'rejected', by: entry.id, reason: entry.reason, name: entry.name });
      case 'question.asked':
        this.question = { question: entry.question, deadline: entry.deadline };
        return;
      case 'run.completed':
        this.end = entry;
        this.now = null;
        this.question = null;
        this.paused = false;
        if (entry.answer !== null) this.answer = entry.answer;
        return;
      case 'run.forked':
        return;
    }
  }

  run(): LiveRun {
    return {
      seq: this.seq,
      template: this.start?.template ?? null,
      strategy: this.start?.strategy ?? null,
      question: this.start?.question ?? null,
      maxRounds: this.start?.maxRounds ?? null,
      roundName: this.start?.round ?? 'round',
      startedAt: this.start?.at ?? null,
      endedAt: this.end?.at ?? null,
      rounds: [...this.rounds.values()].sort((one, other) => one.epoch - other.epoch),
      tasks: new Map(this.tasks),
      gaps: this.gaps,
      decisions: [...this.decisions],
      commands: [...this.commands.values()].sort((one, other) => one.seq - other.seq),
      waitsFor: this.question,
      paused: this.paused,
      now: this.now,
      answer: this.answer,
      takenBack: this.takenBack,
      end: this.end,
      missing: [...this.missing],
    };
  }

  private plan({ id, epoch, fallback, says, tasks }: Extract<StreamEntry, { kind: 'plan.ready' }>): void {
    const ids = new Map(tasks.map(({ taskId }) => [localName(taskId), taskId]));
    for (const { taskId, capability, task, needs } of tasks)
      this.task(taskId, { capability, text: task, needs: needs.flatMap((name) => ids.get(name) ?? []), planned: true });
    this.round(epoch, { fallback, says: says ?? null, plannedBy: id });
  }

  private assessed(epoch: number, gap: string): void {
    const known = this.gaps.find(({ text, closed }) => closed === null && text === gap);
    this.gaps = this.gaps.map((one) =>
      one.closed !== null ? one : one === known ? { ...one, carried: [...one.carried, epoch] } : { ...one, closed: epoch },
    );
    if (gap !== '' && !known) this.gaps.push({ text: gap, opened: epoch, addressed: [], carried: [], closed: null });
    this.round(epoch, { gap });
  }

  private round(epoch: number, change: Partial<LiveRound>): void {
    const before = this.rounds.get(epoch);
    const fresh: LiveRound = { epoch, says: null, fallback: false, tasks: [], aim: null, gap: null, decision: null, plannedBy: null };
    this.rounds.set(epoch, { ...(before ?? fresh), ...change });
  }

  private task(id: string, change: Partial<LiveTask>): void {
    const epoch = epochOf(id);
    const before = this.tasks.get(id);
    if (!before) {
      this.round(epoch, {});
      const round = this.rounds.get(epoch)!;
      this.rounds.set(epoch, { ...round, tasks: [...round.tasks, id] });
    }
    this.tasks.set(id, { ...(before ?? newTask(id, epoch)), ...change });
  }

  /** Numbers of attempts only order them: a call after the first has one far above the last. `first` counts an attempt with none before it. */
  private attempt({ taskId, attempt }: { readonly taskId: string; readonly attempt: number }, first: 0 | 1): Pick<LiveTask, 'attempts'> {
    const last = this.lastAttempt.get(taskId);
    const more = last === undefined ? first : attempt > last ? 1 : 0;
    this.lastAttempt.set(taskId, Math.max(attempt, last ?? 0));
    return { attempts: (this.tasks.get(taskId)?.attempts ?? 1) + more };
  }

  private command(seq: number, change: Partial<LiveCommand>): void {
    const before = this.commands.get(seq);
    const fresh: LiveCommand = { seq, name: '', text: null, actor: '', state: 'accepted', by: 0, round: null, reason: null };
    this.commands.set(seq, { ...(before ?? fresh), ...change });
  }

  private chunk({ taskId, attempt, offset, text }: Extract<StreamEntry, { kind: 'chunk' }>): void {
    const { composing } = this;
    if (composing?.task !== taskId || attempt < composing.attempt) return;
    if (attempt > composing.attempt) this.begin(attempt);
    if (offset !== this.draft.length) return;
    this.draft += text;
    if (composing.live) this.answer = this.draft;
  }

  private begin(attempt: number): void {
    if (this.composing) this.composing.attempt = attempt;
    if (this.answer !== '') this.takenBack += 1;
    this.draft = '';
    this.answer = '';
  }
}

const newTask = (id: string, epoch: number): LiveTask => ({
  id,
  name: localName(id),
  epoch,
  capability: '',
  text: '',
  needs: [],
  planned: false,
  state: 'planned',
  openedAt: null,
  settledAt: null,
  openedBy: null,
  settledBy: null,
  progress: null,
  summary: '',
  confidence: null,
  facts: 0,
  durationMs: null,
  attempts: 1,
  score: null,
});
