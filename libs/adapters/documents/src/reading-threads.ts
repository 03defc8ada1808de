import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Failure } from '@conclave/contracts';
import type { DocumentKind } from './media-types.js';

// The build copies the assets beside the code and beside a bundle, so the same path works everywhere.
const workerFile = fileURLToPath(new URL('./assets/documents/reader.worker.mjs', import.meta.url));

export interface ReadingJob {
  readonly kind: DocumentKind;
  readonly bytes: Uint8Array;
  readonly charset: string | null;
  /** Longest text wanted, characters. */
  readonly limit: number;
  /** Pages of a PDF, slides or sheets that are read; a longer document is refused if `strict`. */
  readonly pages: number;
  readonly strict: boolean;
  /** HTML: the readable part, all that is not hidden, or all text without building a tree. */
  readonly extract: 'readable' | 'whole' | 'plain';
  readonly markdown: boolean;
}

export interface ReadingText {
  readonly title: string;
  readonly text: string;
  readonly cut: boolean;
  readonly notices: readonly string[];
}
export interface ReadingFailure {
  readonly failed: 'unreadable' | 'too_large' | 'slow';
  readonly message: string;
}

export interface ReadingThreadsOptions {
  /** Documents read at the same time. */
  readonly threads?: number;
  /** Time-out of one document in milliseconds; then its thread is ended. It counts while the process has a processor. */
  readonly timeoutMs?: number;
  /** JavaScript heap of one thread, megabytes. */
  readonly heapMb?: number;
  /** How much the process may grow while one document is read, megabytes: buffers are outside the heap. */
  readonly growthMb?: number;
  /** A thread without work ends after this, milliseconds. */
  readonly idleMs?: number;
}

interface Waiting {
  readonly job: ReadingJob;
  readonly signal: AbortSignal;
  readonly settle: (outcome: ReadingText | ReadingFailure | Error) => void;
}

/** How often the growth of the process is checked, in milliseconds. */
const lookEveryMs = 50;
const megabyte = 1024 * 1024;

/** On a machine without a free processor, a document may wait for one for this many times its limit. */
const longestStretch = 10;

/** Milliseconds. A thread has no processor time of its own in Node 20, and this is at least as much. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Reads hostile bytes in threads that end when a document takes too much time or memory. */
export class ReadingThreads {
  private readonly threads: number;
  private readonly limits: { readonly timeoutMs: number; readonly heapMb: number; readonly growthMb: number; readonly idleMs: number };
  private readonly idle: ReadingThread[] = [];
  private readonly queue: Waiting[] = [];
  private running = 0;
  private closed = false;
  private readonly open = new Set<ReadingThread>();

  constructor({ threads = 2, timeoutMs = 10_000, heapMb = 384, growthMb = 768, idleMs = 30_000 }: ReadingThreadsOptions = {}) {
    this.threads = threads;
    this.limits = { timeoutMs, heapMb, growthMb, idleMs };
  }

  /** Threads that exist now. */
  get size(): number {
    return this.open.size;
  }

  /** Never throws because of the content of the document. Throws CALL_CANCELLED once `signal` aborts, SHUTTING_DOWN after `close`. */
  read(job: ReadingJob, signal: AbortSignal): Promise<ReadingText | ReadingFailure> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        job,
        signal,
        settle: (outcome) => {
          signal.removeEventListener('abort', leave);
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        },
      };
      const leave = (): void => {
        const place = this.queue.indexOf(waiting);
        if (place >= 0) this.queue.splice(place, 1);
        waiting.settle(new Failure('CALL_CANCELLED'));
      };
      if (this.closed) return waiting.settle(new Failure('SHUTTING_DOWN'));
      if (signal.aborted) return waiting.settle(new Failure('CALL_CANCELLED'));
      signal.addEventListener('abort', leave, { once: true });
      this.queue.push(waiting);
      this.next();
    });
  }

  /** Like `read`; HTML that takes too long is read once more without building a tree, which costs linear time whatever it contains. */
  async readSomehow(job: ReadingJob, signal: AbortSignal): Promise<ReadingText | ReadingFailure> {
    const outcome = await this.read(job, signal);
    if (!('failed' in outcome) || outcome.failed !== 'slow' || job.kind !== 'html') return outcome;
    return this.read({ ...job, extract: 'plain' }, signal);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const waiting of this.queue.splice(0)) waiting.settle(new Failure('SHUTTING_DOWN'));
    await Promise.all([...this.open].map((thread) => thread.end()));
  }

  private next(): void {
    if (this.closed || this.running >= this.threads) return;
    const waiting = this.queue.shift();
    if (!waiting) return;
    this.running += 1;
    const thread = this.idle.pop() ?? this.begin();
    void thread.read(waiting.job, waiting.signal).then((outcome) => {
      this.running -= 1;
      if (thread.alive && !this.closed) this.idle.push(thread);
      waiting.settle(this.closed && 'failed' in outcome ? new Failure('SHUTTING_DOWN') : outcome);
      this.next();
    });
  }

  private begin(): ReadingThread {
    const thread = new ReadingThread(this.limits, () => {
      this.open.delete(thread);
      const place = this.idle.indexOf(thread);
      if (place >= 0) this.idle.splice(place, 1);
    });
    this.open.add(thread);
    return thread;
  }
}

class ReadingThread {
  private readonly worker: Worker;
  private readonly started: Promise<void>;
  private idleTimer: NodeJS.Timeout | undefined;
  private over: ((failure: ReadingFailure) => void) | null = null;
  private jobs = 0;
  alive = true;

  constructor(
    private readonly limits: { readonly timeoutMs: number; readonly heapMb: number; readonly growthMb: number; readonly idleMs: number },
    private readonly gone: () => void,
  ) {
    this.worker = new Worker(workerFile, {
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, maxYoungGenerationSizeMb: 48, stackSizeMb: 4 },
      execArgv: ['--no-warnings'],
      env: {},
      stdout: true,
      stderr: true,
    });
    this.worker.unref();
    this.worker.stdout.resume();
    this.worker.stderr.resume();
    this.started = new Promise((resolve) => this.worker.once('message', () => resolve()));
    this.worker.on('error', (error: NodeJS.ErrnoException) =>
      this.fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'It needs more memory than allowed.' : 'Its content is broken.'),
    );
    this.worker.on('exit', () => {
      this.alive = false;
      this.fail('Reading it was interrupted.');
      this.gone();
    });
  }

  /** Reads one document. Always returns an outcome. */
  read(job: ReadingJob, signal: AbortSignal): Promise<ReadingText | ReadingFailure | Error> {
    clearTimeout(this.idleTimer);
    this.jobs += 1;
    const id = this.jobs;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const before = process.memoryUsage.rss();
      const look = setInterval(() => {
        if (process.memoryUsage.rss() - before > this.limits.growthMb * megabyte) stop('It needs more memory than allowed.', 'too_large');
      }, lookEveryMs);
      const settle = (outcome: ReadingText | ReadingFailure | Error): void => {
        clearTimeout(timer);
        clearInterval(look);
        signal.removeEventListener('abort', cancel);
        this.worker.off('message', take);
        this.over = null;
        if (this.alive) this.rest();
        resolve(outcome);
      };
      const stop = (message: string, failed: ReadingFailure['failed'] = 'unreadable'): void => {
        this.alive = false;
        settle({ failed, message });
        void this.worker.terminate();
      };
      const cancel = (): void => {
        this.alive = false;
        settle(new Failure('CALL_CANCELLED'));
        void this.worker.terminate();
      };
      const take = (message: { readonly id?: number; readonly outcome?: ReadingText | ReadingFailure }): void => {
        if (message.id === id && message.outcome) settle(message.outcome);
      };
      this.over = (failure) => settle(failure);
      this.worker.on('message', take);
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) return cancel();
      // The thread's own start does not count as time of the document, but it is bounded too.
      timer = setTimeout(() => stop('The thread that reads did not start.'), 20_000);
      void this.started.then(() => {
        clearTimeout(timer);
        if (this.over === null) return;
        const { timeoutMs } = this.limits;
        const since = { wallMs: performance.now(), processorMs: processorTime() };
        const check = (): void => {
          const leftMs = timeoutMs - (processorTime() - since.processorMs);
          if (leftMs <= 0 || performance.now() - since.wallMs >= timeoutMs * longestStretch)
            return stop(`Reading it took longer than ${timeoutMs} ms.`, 'slow');
          timer = setTimeout(check, leftMs);
        };
        timer = setTimeout(check, timeoutMs);
        this.worker.postMessage({ id, job });
      });
    });
  }

  async end(): Promise<void> {
    clearTimeout(this.idleTimer);
    this.alive = false;
    await this.worker.terminate();
  }

  private rest(): void {
    this.idleTimer = setTimeout(() => void this.end(), this.limits.idleMs);
    this.idleTimer.unref();
  }

  private fail(message: string): void {
    this.alive = false;
    this.over?.({ failed: 'unreadable', message });
  }
}
