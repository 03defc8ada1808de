import { parseTaskId, type RunCompletedEntry, type Snapshot, type StreamEntry } from '@conclave/contracts';
import { outcomeWords, progressText } from '@conclave/service-gateway';
import { elapsedText, painted, plain, printable, type Paint } from './terminal-look.js';

interface Out {
  write(text: string): unknown;
}

export interface PrinterLook {
  /** Colours progress; default: no colours. */
  readonly paint?: Paint;
  /** Milliseconds since the question was asked, for the closing line; omitted by default. */
  readonly elapsedMs?: () => number;
}

/**
 * Shows a run live: progress on one output, the answer on the other, so that `ask ... > file` stores only the answer.
 * Text is shown token by token if the run streams it, otherwise at the end.
 */
export class RunPrinter {
  private composer: string | null = null;
  private shown = '';
  /** Progress that arrived during the answer, held back because a terminal shows both outputs together. */
  private held = '';
  private completed: RunCompletedEntry | null = null;

  private readonly progress: Out;

  constructor(
    private readonly answer: Out,
    progress: Out,
    private readonly look: PrinterLook = {},
  ) {
    this.progress = { write: (text) => progress.write(painted(printable(text), look.paint ?? plain)) };
  }

  take(entry: StreamEntry | Snapshot): void {
    switch (entry.kind) {
      case 'snapshot':
        return void this.progress.write(`(earlier events are no longer stored; the run is ${entry.status})\n`);
      case 'composing':
        this.composer = entry.taskId;
        break;
      case 'chunk':
        if (entry.taskId === this.composer) this.text(entry.text);
        return;
      case 'superseded':
        if (entry.taskId === this.composer && this.shown) this.startAgain(entry.discarded);
        break;
      case 'run.completed':
        return this.end(entry);
      default:
    }
    const line = progressText(entry);
    if (line === null) return;
    if (this.shown) this.held += `${line}\n`;
    else this.progress.write(`${line}\n`);
  }

  /** The terminal entry, or null before it arrives. */
  get result(): RunCompletedEntry | null {
    return this.completed;
  }

  private text(text: string): void {
    if (!this.shown) this.progress.write('\n');
    this.shown += text;
    this.answer.write(printable(text));
  }

  private startAgain(discarded: number): void {
    this.answer.write('\n');
    this.progress.write(`(the ${discarded} characters above are void: their attempt failed, another one starts again)\n`);
    this.shown = '';
  }

  private end(entry: RunCompletedEntry): void {
    this.completed = entry;
    const { answer, failure, reason, outcome, sources, usage, rounds } = entry;
    if (answer !== null) {
      // A held answer arrives whole; to a streamed one, text may have been added after its last token.
      if (!this.shown) this.text(answer);
      else if (answer.startsWith(this.shown)) this.text(answer.slice(this.shown.length));
      else {
        this.startAgain(this.shown.length);
        this.text(answer);
      }
      this.answer.write('\n');
    }
    const spent = `${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${usage.calls} model ${usage.calls === 1 ? 'call' : 'calls'}, ${usage.prompt + usage.completion} tokens${usage.estimated ? ' (estimated)' : ''}${usage.cost > 0 ? `, cost ${usage.cost.toFixed(4)}` : ''}${this.look.elapsedMs ? `, ${elapsedText(this.look.elapsedMs())}` : ''}`;
    // An answer with citations already lists its sources.
    const unnamed = sources.some(({ title }) => !answer?.includes(title));
    const named = !unnamed
      ? []
      : sources.map(
          ({ title, call, url, kind, n }, i) => `   [${n ?? i + 1}] ${title}${call ? ` (${call})` : ''}${url ? ` · ${url}` : ''} (${kind})`,
        );
    this.progress.write(
      [
        '',
        ...(this.held ? [this.held.trimEnd()] : []),
        ...(named.length > 0 ? ['📚 Sources', ...named] : []),
        `🏁 ${outcomeWords[outcome]}: ${reason}`,
        ...(failure && !reason.includes(failure.message) ? [`   ${failure.message}`] : []),
        `   ${spent}`,
        '',
      ].join('\n'),
    );
  }
}

/** Short form of a task id for lists. */
export const localTask = (id: string): string => parseTaskId(id)?.local ?? id;
