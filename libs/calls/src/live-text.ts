import type { ShownIn } from './calls.js';

/** After the first one, chunks are gathered for this long before they are appended; people do not see it. */
const batchMs = 40;

/**
 * Text of one attempt on its way into the run stream: gathered, numbered by its offset, appended in order.
 * A repeat of text that is already there appends only the missing rest.
 */
export class LiveText {
  private offset = 0;
  private pending = '';
  private timer: NodeJS.Timeout | null = null;
  private tail: Promise<void> = Promise.resolve();
  private failure: Error | null = null;
  /** Set when a later attempt has taken over: nothing more is appended. */
  refused = false;

  constructor(
    private readonly stream: ShownIn,
    private readonly runId: string,
    private readonly taskId: string,
    private readonly attempt: number,
  ) {}

  push(text: string): void {
    if (text === '') return;
    this.pending += text;
    // The first text of an answer is what people wait for.
    if (this.offset === 0) void this.send();
    else this.timer ??= setTimeout(() => void this.send(), batchMs);
  }

  private send(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const text = this.pending;
    if (text === '') return this.tail;
    const offset = this.offset;
    this.pending = '';
    this.offset += text.length;
    this.tail = this.tail.then(async () => {
      if (this.refused || this.failure !== null) return;
      try {
        const said = await this.stream.append(this.runId, [{ kind: 'chunk', taskId: this.taskId, attempt: this.attempt, offset, text }]);
        if (said === 'refused') this.refused = true;
      } catch (error) {
        // Kept for `flush`, which every caller awaits before the result is published.
        this.failure = error instanceof Error ? error : new Error(String(error));
      }
    });
    return this.tail;
  }

  /** Everything pushed so far is in the stream. Throws what an append failed with. */
  async flush(): Promise<void> {
    await this.send();
    if (this.failure !== null) throw this.failure;
  }
}
