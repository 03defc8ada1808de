import type { ShownIn } from './calls.js';

/** Milliseconds for which text after the first chunk is batched before it is appended: too short to notice. */
const batchMs = 40;

/**
 * Streams one attempt's text into the run stream: batched, numbered by offset, appended in order. Repeating text that is already there
 * appends only the missing rest.
 */
export class LiveText {
  private offset = 0;
  private pending = '';
  private timer: NodeJS.Timeout | null = null;
  private sent: Promise<unknown> = Promise.resolve();
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
    // Send the first text at once: people are waiting for it.
    if (this.offset === 0) void this.send();
    else this.timer ??= setTimeout(() => void this.send(), batchMs);
  }

  private send(): Promise<unknown> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const text = this.pending;
    if (text === '') return this.sent;
    const { offset } = this;
    this.pending = '';
    this.offset += text.length;
    // Does not wait for the end of the previous append: the stream keeps the order of calls, so that a line that is shown next follows the
    // text.
    this.sent = Promise.all([this.sent, this.append(offset, text)]);
    return this.sent;
  }

  /** Never rejects. */
  private async append(offset: number, text: string): Promise<void> {
    if (this.refused || this.failure !== null) return;
    try {
      const said = await this.stream.append(this.runId, [{ kind: 'chunk', taskId: this.taskId, attempt: this.attempt, offset, text }]);
      if (said === 'refused') this.refused = true;
    } catch (error) {
      // Kept for `flush`, which every caller awaits before the result is published. A later chunk fails because of the missing one.
      this.failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Resolves when all pushed text is in the stream. Throws the error of a failed append. */
  async flush(): Promise<void> {
    await this.send();
    if (this.failure !== null) throw this.failure;
  }
}
