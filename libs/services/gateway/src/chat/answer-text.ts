import { isTerminal, type StreamBody, type RunCompletedEntry } from '@conclave/contracts';

/** What an entry means for the text a client holds. */
export type TextStep =
  | { readonly kind: 'text'; readonly text: string }
  /** The run has ended; `rest` is the part of the answer not yet sent. */
  | { readonly kind: 'done'; readonly rest: string; readonly answer: string; readonly end: RunCompletedEntry }
  /** The text sent is no longer the beginning of the answer. */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'ended'; readonly end: RunCompletedEntry }
  | { readonly kind: 'nothing' };

/**
 * Follows the answer through the entries of a run: live chunks as they arrive, the rest at the end. The text sent is always the
 * beginning of the answer; otherwise the step is `superseded`.
 */
export class AnswerText {
  /** Text sent so far. */
  private given = '';
  /** Text written by the newest attempt of the answering task. */
  private draft = '';
  private task: string | null = null;
  private live = false;
  private attempt = 0;
  /** True while the draft equals the text sent; saves comparing a long text with itself at every chunk. */
  private inStep = true;

  /** The whole draft, including text that may not be shown yet. */
  get soFar(): string {
    return this.draft;
  }
  get shown(): string {
    return this.given;
  }

  take(entry: StreamBody): TextStep {
    switch (entry.kind) {
      case 'composing':
        this.task = entry.taskId;
        this.live = entry.stream === 'live';
        this.begin(0);
        return { kind: 'nothing' };
      case 'chunk':
        return this.chunk(entry);
      case 'superseded':
        if (entry.taskId !== this.task) return { kind: 'nothing' };
        this.begin(entry.attempt);
        return this.given === '' ? { kind: 'nothing' } : { kind: 'superseded' };
      case 'run.completed':
        return this.completed(entry);
      default:
        return { kind: 'nothing' };
    }
  }

  private chunk(entry: Extract<StreamBody, { kind: 'chunk' }>): TextStep {
    if (entry.taskId !== this.task || entry.attempt < this.attempt) return { kind: 'nothing' };
    if (entry.attempt > this.attempt) this.begin(entry.attempt);
    // The stream removes overlaps; after a gap the text would not join, so the rest waits for the end.
    if (entry.offset !== this.draft.length) return { kind: 'nothing' };
    this.draft += entry.text;
    if (!this.live) {
      this.inStep = false;
      return { kind: 'nothing' };
    }
    if (!this.inStep && (this.draft.length <= this.given.length || !this.draft.startsWith(this.given))) return { kind: 'nothing' };
    const text = this.inStep ? entry.text : this.draft.slice(this.given.length);
    this.inStep = true;
    this.given = this.draft;
    return { kind: 'text', text };
  }

  private begin(attempt: number): void {
    this.attempt = attempt;
    this.draft = '';
    this.inStep = this.given === '';
  }

  private completed(end: RunCompletedEntry): TextStep {
    if (end.answer === null || end.outcome === 'cancelled' || end.outcome === 'failed') return { kind: 'ended', end };
    const answer = end.answer;
    // Trailing white space in the text sent is no error: the composer trims its final text.
    const given = answer.startsWith(this.given) ? this.given : this.given.trimEnd();
    if (!answer.startsWith(given)) return { kind: 'superseded' };
    this.given = answer;
    return { kind: 'done', rest: answer.slice(given.length), answer, end };
  }
}

/**
 * Filters what a client that joins a run late is shown, such as a retry after a superseded answer: never text that the backlog
 * itself supersedes. The newest attempt may be dead too, so its text is held until the run continues it, and dropped when another
 * attempt replaces it.
 */
export class Backlog<Entry extends StreamBody> {
  private held: readonly Entry[] = [];
  private readonly fresh: Entry[] = [];
  private following = false;

  /** Takes new entries in order and returns those to show now. `more`: the stream already holds further ones. */
  take(entries: readonly Entry[], more: boolean): readonly Entry[] {
    if (this.following) return entries;
    this.fresh.push(...entries);
    if (more) return [];
    const fresh = this.fresh.splice(0);
    const { held } = this;
    if (held.length > 0 && !fresh.some(goesOn)) return fresh;
    const shown = withoutTakenBack([...held, ...fresh]);
    this.following = held.length > 0 || !shown.some(isChunk);
    this.held = this.following ? [] : shown.filter(isChunk);
    return this.following ? shown : shown.filter((entry) => !isChunk(entry));
  }
}

const isChunk = ({ kind }: StreamBody): boolean => kind === 'chunk';
/** Whether the entry shows that the answer is being written or is finished. */
const goesOn = ({ kind }: StreamBody): boolean => ['chunk', 'superseded', 'composing', 'run.completed'].includes(kind);

/** Drops chunks of superseded attempts, and all chunks of an ended run, whose last entry holds the answer. */
function withoutTakenBack<Entry extends StreamBody>(backlog: readonly Entry[]): readonly Entry[] {
  const over = backlog.some(isTerminal);
  const newest = new Map<string, number>();
  for (const entry of backlog) {
    if (entry.kind === 'chunk' || entry.kind === 'superseded')
      newest.set(entry.taskId, Math.max(newest.get(entry.taskId) ?? 0, entry.attempt));
  }
  return backlog.filter((entry) => entry.kind !== 'chunk' || (!over && entry.attempt === newest.get(entry.taskId)));
}
