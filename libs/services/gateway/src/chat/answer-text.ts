import { isTerminal, type StreamBody } from '@conclave/contracts';

type Completed = Extract<StreamBody, { kind: 'run.completed' }>;

/** What an entry means for the text a client holds. */
export type TextStep =
  | { readonly kind: 'text'; readonly text: string }
  /** The run is over; `rest` is what the client has not yet got of the answer. */
  | { readonly kind: 'done'; readonly rest: string; readonly answer: string; readonly end: Completed }
  /** What was sent is not the beginning of the answer any more. */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'ended'; readonly end: Completed }
  | { readonly kind: 'nothing' };

/**
 * Follows the answer through the entries of a run: live chunks as they come, the rest at the end. What was given
 * out is always the beginning of the answer, or the step says that it is not.
 */
export class AnswerText {
  /** Text given out so far. */
  private given = '';
  /** Text of the newest attempt of the task that writes the answer. */
  private draft = '';
  private task: string | null = null;
  private live = false;
  private attempt = 0;
  /** The draft is what was given out, to the last character; spares comparing a long text with itself at every chunk. */
  private inStep = true;

  /** All of the draft, also where it may not be shown yet. */
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
    // The stream cuts overlaps; a gap would put words together that never stood side by side, so the rest waits for the end.
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

  private completed(end: Completed): TextStep {
    if (end.answer === null || end.outcome === 'cancelled' || end.outcome === 'failed') return { kind: 'ended', end };
    const answer = end.answer;
    // White space at the end of what was sent is not worth an error: the composer trims its final text.
    const given = answer.startsWith(this.given) ? this.given : this.given.trimEnd();
    if (!answer.startsWith(given)) return { kind: 'superseded' };
    this.given = answer;
    return { kind: 'done', rest: answer.slice(given.length), answer, end };
  }
}

/**
 * What a client is shown that comes late to a run, such as the retry of one whose answer was superseded: never text that the
 * backlog itself takes back. The newest attempt may be dead as well and nobody knows it yet, so its text is held until the
 * run goes on writing it, and dropped when another attempt takes its place.
 */
export class Backlog<Entry extends StreamBody> {
  private held: readonly Entry[] = [];
  private readonly fresh: Entry[] = [];
  private following = false;

  /** Takes new entries in order, gives those to show now. `more`: further ones are in the stream already. */
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
/** Whether the answer is being written now, whoever writes it, or is finished. */
const goesOn = ({ kind }: StreamBody): boolean => ['chunk', 'superseded', 'composing', 'run.completed'].includes(kind);

/** Where the run is over, its answer stands in the last entry. */
function withoutTakenBack<Entry extends StreamBody>(backlog: readonly Entry[]): readonly Entry[] {
  const over = backlog.some(isTerminal);
  const newest = new Map<string, number>();
  for (const entry of backlog) {
    if (entry.kind === 'chunk' || entry.kind === 'superseded')
      newest.set(entry.taskId, Math.max(newest.get(entry.taskId) ?? 0, entry.attempt));
  }
  return backlog.filter((entry) => entry.kind !== 'chunk' || (!over && entry.attempt === newest.get(entry.taskId)));
}
