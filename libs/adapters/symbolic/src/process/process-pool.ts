import { Failure } from '@conclave/contracts';
import { LineProcess, ProcessEnded, type LineProgram, type LineReply } from './line-process.js';

export interface ProcessPoolOptions {
  readonly program: LineProgram;
  /** Processes at most. */
  readonly processes: number;
  /** Bound of one calculation once it runs, milliseconds. */
  readonly calculationMs: number;
  /** Called when a process had to be replaced, for the log. It contains no text of a question. */
  readonly onReplaced: (how: string) => void;
  /** A process that runs already. */
  readonly first?: LineProcess;
}

/** Requests that may wait for a free process. */
const longestQueue = 256;

interface Waiter {
  enter(): void;
}

/** Processes of one program, each with one question at a time. A process that overran or broke is ended and replaced. */
export class ProcessPool {
  private readonly idle: LineProcess[] = [];
  private readonly all = new Set<LineProcess>();
  private readonly starting = new Set<Promise<LineProcess>>();
  private readonly queue: Waiter[] = [];
  private busy = 0;
  private closed = false;

  constructor(private readonly options: ProcessPoolOptions) {
    if (options.first) this.add(options.first);
  }

  /**
   * The reply to `question`. `timeoutMs` bounds waiting and calculating together. Throws Failure MATH_LIMIT (it overran, or its process
   * ended), MATH_UNAVAILABLE, CALL_CANCELLED.
   */
  async ask(
    question: LineReply,
    { signal, timeoutMs = Infinity }: { readonly signal: AbortSignal; readonly timeoutMs?: number },
  ): Promise<LineReply> {
    const until = performance.now() + timeoutMs;
    await this.enter(signal, timeoutMs);
    let process: LineProcess | null = null;
    try {
      process = await this.take();
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      const withinMs = Math.max(1, Math.min(this.options.calculationMs, until - performance.now()));
      return await process.ask(question, { withinMs, signal });
    } catch (error) {
      throw error instanceof ProcessEnded ? this.failureOf(error, process !== null) : error;
    } finally {
      this.leave(process);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const waiter of this.queue.splice(0)) waiter.enter();
    await Promise.allSettled(this.starting);
    await Promise.all([...this.all].map((process) => process.kill()));
  }

  private failureOf(ended: ProcessEnded, began: boolean): Failure {
    if (this.closed) return new Failure('MATH_UNAVAILABLE', 'It is being closed.');
    if (!began) return new Failure('MATH_UNAVAILABLE', `Its process does not start: ${ended.how}.`);
    if (ended.reason === 'cancelled') return new Failure('CALL_CANCELLED');
    if (ended.reason === 'overrun') return new Failure('MATH_LIMIT', 'It was stopped at the end of its time.');
    return new Failure('MATH_LIMIT', `The process ended during the calculation (${ended.how}).`);
  }

  /** Waits until fewer than `processes` questions are being answered. */
  private async enter(signal: AbortSignal, timeoutMs: number): Promise<void> {
    if (this.closed) throw new Failure('MATH_UNAVAILABLE', 'It is closed.');
    if (signal.aborted) throw new Failure('CALL_CANCELLED');
    if (this.busy < this.options.processes) {
      this.busy += 1;
      return;
    }
    if (this.queue.length >= longestQueue) throw new Failure('MATH_UNAVAILABLE', 'Too many calculations wait already.');
    const waiter: Waiter = { enter: () => undefined };
    let timer: NodeJS.Timeout | undefined;
    let onAbort: () => void = () => undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        // A caller leaves the queue at once, so that no slot goes to one that has left.
        const leaveWith = (failure: Failure): void => {
          const position = this.queue.indexOf(waiter);
          if (position < 0) return;
          this.queue.splice(position, 1);
          reject(failure);
        };
        waiter.enter = () => (this.closed ? reject(new Failure('MATH_UNAVAILABLE', 'It is being closed.')) : resolve());
        this.queue.push(waiter);
        onAbort = () => leaveWith(new Failure('CALL_CANCELLED'));
        signal.addEventListener('abort', onAbort, { once: true });
        const over = (): void => leaveWith(new Failure('MATH_LIMIT', 'Its time was over before a process was free.'));
        if (Number.isFinite(timeoutMs)) timer = setTimeout(over, timeoutMs);
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  private leave(process: LineProcess | null): void {
    if (process?.sound) this.idle.push(process);
    else if (process && !this.closed) this.replace('a calculation ended it');
    const next = this.queue.shift();
    if (next) next.enter();
    else this.busy -= 1;
  }

  /** Starts a new process at once, so that the next question waits less. */
  private replace(how: string): void {
    this.options.onReplaced(how);
    const starting = this.start();
    this.starting.add(starting);
    void starting
      .then(
        (process) => this.idle.push(process),
        // The next caller tries to start one again, and receives the reason if that fails.
        () => this.options.onReplaced('a new process does not start'),
      )
      .finally(() => this.starting.delete(starting));
  }

  private async take(): Promise<LineProcess> {
    // A process that is already starting is ready sooner than a new one.
    for (const starting of this.starting) await starting.catch(() => undefined);
    for (let process = this.idle.pop(); process; process = this.idle.pop()) if (process.sound) return process;
    return this.start();
  }

  private async start(): Promise<LineProcess> {
    const { process, first } = await LineProcess.start(this.options.program);
    if (this.closed || typeof first['ready'] !== 'string') {
      await process.kill();
      throw new ProcessEnded('ended', this.closed ? 'closed' : 'it is not ready');
    }
    return this.add(process, false);
  }

  private add(process: LineProcess, idle = true): LineProcess {
    this.all.add(process);
    if (idle) this.idle.push(process);
    void process.ended.then(() => this.all.delete(process));
    return process;
  }
}
