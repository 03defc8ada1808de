import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Failure } from '@conclave/contracts';
import type { DocumentKind } from './media-types.js';

// The build copies the assets beside the code and beside a bundle, so the same path works everywhere.
const processFile = fileURLToPath(new URL('./assets/documents/reader.process.mjs', import.meta.url));

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

export interface ReadingProcessesOptions {
  /** Documents read at the same time. */
  readonly processes?: number;
  /** Time-out of one document in milliseconds; then its process is ended. It counts while that has a processor. */
  readonly timeoutMs?: number;
  /** JavaScript heap of one process, megabytes. */
  readonly heapMb?: number;
  /** How much it may grow while one document is read, megabytes: buffers are outside the heap. */
  readonly growthMb?: number;
  /** A process without work ends after this, milliseconds. */
  readonly idleMs?: number;
  /** The Node.js that runs the processes; default: that of this process. */
  readonly program?: string;
}

type ReadingLimits = Required<Omit<ReadingProcessesOptions, 'processes'>>;

interface Waiting {
  readonly job: ReadingJob;
  readonly signal: AbortSignal;
  readonly settle: (outcome: ReadingText | ReadingFailure | Error) => void;
}

/** On a machine without a free processor, a document may wait for one for this many times its limit. */
const longestStretch = 10;

/** Longest start of a process, milliseconds. */
const startMs = 20_000;

/** What a process sends; `isLast`: it ends with this reply. */
interface Reply {
  readonly id?: number;
  readonly outcome?: ReadingText | ReadingFailure;
  readonly isLast?: boolean;
}

/**
 * Reads hostile bytes in processes that end when a document takes too much time or memory. Threads are not enough: a single allocation that
 * exhausts the heap of a thread ends the whole process (`FATAL ERROR: Reached heap limit`), and a document chooses how large allocations are.
 */
export class ReadingProcesses {
  private readonly processes: number;
  private readonly limits: ReadingLimits;
  private readonly idle: ReadingProcess[] = [];
  private readonly queue: Waiting[] = [];
  private running = 0;
  private closed = false;
  private readonly open = new Set<ReadingProcess>();

  constructor({
    processes = 2,
    timeoutMs = 10_000,
    heapMb = 384,
    growthMb = 768,
    idleMs = 30_000,
    program = process.execPath,
  }: ReadingProcessesOptions = {}) {
    this.processes = processes;
    this.limits = { timeoutMs, heapMb, growthMb, idleMs, program };
  }

  /** Processes that exist now. */
  get size(): number {
    return this.open.size;
  }

  /** Ids of the processes that exist now. */
  get pids(): readonly number[] {
    return [...this.open].flatMap(({ pid }) => pid ?? []);
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
    await Promise.all([...this.open].map((child) => child.end()));
  }

  private next(): void {
    if (this.closed || this.running >= this.processes) return;
    const waiting = this.queue.shift();
    if (!waiting) return;
    this.running += 1;
    const child = this.idle.pop() ?? this.begin();
    void child.read(waiting.job, waiting.signal).then((outcome) => {
      this.running -= 1;
      if (child.alive && !this.closed) this.idle.push(child);
      waiting.settle(this.closed && 'failed' in outcome ? new Failure('SHUTTING_DOWN') : outcome);
      this.next();
    });
  }

  private begin(): ReadingProcess {
    const child = new ReadingProcess(this.limits, () => {
      this.open.delete(child);
      const place = this.idle.indexOf(child);
      if (place >= 0) this.idle.splice(place, 1);
    });
    this.open.add(child);
    return child;
  }
}

class ReadingProcess {
  private readonly child: ChildProcess;
  private readonly started: Promise<void>;
  private idleTimer: NodeJS.Timeout | undefined;
  private over: ((outcome: ReadingText | ReadingFailure) => void) | null = null;
  private jobs = 0;
  alive = true;

  constructor(
    private readonly limits: ReadingLimits,
    private readonly gone: () => void,
  ) {
    const { timeoutMs, heapMb, growthMb, program } = limits;
    this.child = fork(processFile, [JSON.stringify({ timeoutMs, heapMb, growthMb, longestStretch })], {
      execPath: program,
      execArgv: ['--no-warnings'],
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.child.unref();
    this.child.channel?.unref();
    this.started = new Promise((resolve) => this.child.once('message', () => resolve()));
    this.child.on('error', () => {
      this.fail('Reading it was interrupted.');
      // Without an id it was never started, and no exit follows.
      if (this.child.pid === undefined) this.gone();
    });
    // The engine aborts its process when one allocation exhausts the heap.
    this.child.on('exit', (code, signal) => {
      const isAbort = signal === 'SIGABRT' || code === 134;
      this.fail(isAbort ? 'It needs more memory than allowed.' : 'Reading it was interrupted.');
      this.gone();
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Reads one document. Always returns an outcome. */
  read(job: ReadingJob, signal: AbortSignal): Promise<ReadingText | ReadingFailure | Error> {
    clearTimeout(this.idleTimer);
    this.jobs += 1;
    const id = this.jobs;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = (outcome: ReadingText | ReadingFailure | Error): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
        this.child.off('message', take);
        this.over = null;
        if (this.alive) this.rest();
        resolve(outcome);
      };
      const end = (outcome: ReadingFailure | Error): void => {
        this.kill();
        settle(outcome);
      };
      const cancel = (): void => end(new Failure('CALL_CANCELLED'));
      const take = (message: Reply): void => {
        if (message.id !== id || !message.outcome) return;
        if (message.isLast) this.alive = false;
        settle(message.outcome);
      };
      this.over = settle;
      this.child.on('message', take);
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) return cancel();
      // Its start does not count as time of the document, but it is bounded too.
      timer = setTimeout(() => end({ failed: 'unreadable', message: 'The process that reads did not start.' }), startMs);
      void this.started.then(() => {
        clearTimeout(timer);
        if (this.over === null) return;
        // The process ends a reading itself; this is for one that no longer does anything.
        timer = setTimeout(
          () => end({ failed: 'unreadable', message: 'Reading it was interrupted.' }),
          this.limits.timeoutMs * longestStretch + startMs,
        );
        this.child.send({ id, job }, (error) => error && this.fail('Reading it was interrupted.'));
      });
    });
  }

  async end(): Promise<void> {
    clearTimeout(this.idleTimer);
    this.kill();
    const { pid, exitCode, signalCode } = this.child;
    if (pid !== undefined && exitCode === null && signalCode === null) await once(this.child, 'exit');
  }

  private kill(): void {
    this.alive = false;
    this.child.kill('SIGKILL');
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
