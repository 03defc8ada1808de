import { Worker } from 'node:worker_threads';
import { Refusal } from '../refusal.js';
import type { ToolJob, WorkerReply } from './messages.js';

export interface ThreadPoolOptions {
  /** A file that calls `serveJobs` when it runs in a worker thread. */
  workerFile: URL | string;
  /** Most threads at once. */
  threads: number;
  /** Heap of one thread, in MiB; a thread that needs more is ended. */
  heapMb: number;
  /** Maximum number of jobs that wait for a thread, and the longest wait in milliseconds; beyond either, a job is refused as BUSY. */
  waiting: { jobs: number; ms: number };
  /** Longest start of a thread, in milliseconds. It is not part of the time limit of a job. */
  startMs: number;
  /** Receives what a thread writes to stdout or stderr, and why one was replaced. */
  log(line: string): void;
  /** Processor time of this process so far, in milliseconds; read from the system if absent. */
  processorMs?(): number;
}

interface Waiting {
  job: Omit<ToolJob, 'id'>;
  timeoutMs: number;
  resolve(output: unknown): void;
  reject(error: Refusal): void;
  deadline: NodeJS.Timeout;
}

interface Thread {
  worker: Worker;
  ready: boolean;
  running?: Running;
}

/** A job that a thread has. */
interface Running {
  id: number;
  waiting: Waiting;
  /** Ends the thread, unless it hardly had a processor. */
  limit: NodeJS.Timeout;
  /** When the thread received the job: milliseconds of `performance.now()`, and of processor time of this process. */
  since: { wallMs: number; processorMs: number };
}

/** Threads that start at the same time only slow each other down; the first that is ready can empty the queue alone. */
const mostStarting = 2;

/** On a machine without a free processor, a job may wait for one for this many times its limit. */
const longestStretch = 10;

/** Threads of a worker have no processor time of their own in Node 20, so it is that of the process. */
function usedByProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const seconds = (ms: number): string => `${ms / 1_000} s`;

/**
 * Runs jobs in threads that can be ended at any moment: an endless loop, a backtracking pattern, a huge number. A thread has
 * one job at a time, and a waiting job takes the next free thread, so a slow job holds up at most its own thread.
 */
export class WorkerPool {
  private readonly threads = new Set<Thread>();
  private readonly queue: Waiting[] = [];
  private nextId = 1;
  private failedStarts = 0;
  private closed = false;

  constructor(private readonly options: ThreadPoolOptions) {}

  /** Starts one thread ahead of the first job. */
  warm(): void {
    this.assign();
  }

  /**
   * Keeps one thread free or starting in addition to those that jobs need, so that no job waits for a start because another one is slow.
   */
  private keepSpare(): void {
    const free = [...this.threads].filter(({ running }) => !running).length;
    const starting = [...this.threads].filter(({ ready }) => !ready).length;
    const wanted = Math.min(this.queue.length + 1 - free, this.options.threads - this.threads.size, mostStarting - starting);
    for (let i = 0; i < wanted; i += 1) this.start();
  }

  /**
   * The job's output. `timeoutMs` counts while the job has a processor: its share of the time that this process was given.
   * Throws the job's own refusal, TIMEOUT, OUT_OF_MEMORY, BUSY, or UNAVAILABLE after `close`.
   */
  run(name: string, args: unknown, timeoutMs: number): Promise<unknown> {
    if (this.closed) return Promise.reject(new Refusal('UNAVAILABLE', 'The tools are closing.'));
    if (this.queue.length >= this.options.waiting.jobs) return Promise.reject(this.busy());
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        job: { name, args },
        timeoutMs,
        resolve,
        reject,
        deadline: setTimeout(() => this.giveUp(waiting), this.options.waiting.ms),
      };
      this.queue.push(waiting);
      this.assign();
    });
  }

  /** Ends every thread; jobs that still run or wait are refused. */
  async close(): Promise<void> {
    this.closed = true;
    const refusal = new Refusal('UNAVAILABLE', 'The tools are closing.');
    for (const waiting of this.queue.splice(0)) this.settle(waiting, () => waiting.reject(refusal));
    await Promise.all([...this.threads].map((thread) => this.end(thread, refusal)));
  }

  private busy(): Refusal {
    return new Refusal('BUSY', `Too many calls wait for a thread. Try again in ${seconds(this.options.waiting.ms)}.`);
  }

  private giveUp(waiting: Waiting): void {
    const index = this.queue.indexOf(waiting);
    if (index < 0) return;
    this.queue.splice(index, 1);
    waiting.reject(this.busy());
  }

  private settle(waiting: Waiting, settle: () => void): void {
    clearTimeout(waiting.deadline);
    settle();
  }

  private assign(): void {
    // A thread that is being ended may still send something.
    if (this.closed) return;
    for (const thread of this.threads) {
      if (this.queue.length === 0) break;
      if (thread.ready && !thread.running) this.give(thread, this.queue.shift()!);
    }
    this.keepSpare();
  }

  private give(thread: Thread, waiting: Waiting): void {
    clearTimeout(waiting.deadline);
    const id = this.nextId++;
    const since = { wallMs: performance.now(), processorMs: this.processorMs() };
    thread.running = { id, waiting, since, limit: this.limitAfter(waiting.timeoutMs, thread, id) };
    thread.worker.postMessage({ id, ...waiting.job } satisfies ToolJob);
  }

  private processorMs(): number {
    return (this.options.processorMs ?? usedByProcess)();
  }

  private limitAfter(ms: number, thread: Thread, id: number): NodeJS.Timeout {
    // If this thread was held up itself, the reply may have arrived already: it is read before the immediate runs.
    return setTimeout(() => setImmediate(() => this.reachLimit(thread, id)), ms);
  }

  private reachLimit(thread: Thread, id: number): void {
    const { running } = thread;
    if (running?.id !== id) return;
    const { timeoutMs, job } = running.waiting;
    const wallMs = performance.now() - running.since.wallMs;
    const atWork = [...this.threads].filter((one) => one.running !== undefined || !one.ready).length;
    const missingMs = timeoutMs - (this.processorMs() - running.since.processorMs) / atWork;
    const isStarved = missingMs > 0;
    if (isStarved && wallMs < longestStretch * timeoutMs) {
      running.limit = this.limitAfter(missingMs, thread, id);
      return;
    }
    const reason = isStarved ? `had too little of a processor for ${Math.round(wallMs)} ms` : `ran for ${timeoutMs} ms`;
    this.options.log(`A thread was ended: ${job.name} ${reason}.`);
    const refusal = isStarved
      ? new Refusal('BUSY', `${job.name} had no processor for ${seconds(Math.round(wallMs))}: this machine is too busy. Try again later.`)
      : new Refusal(
          'TIMEOUT',
          `${job.name} was ended after ${seconds(timeoutMs)}: the question takes too long. Make it smaller or simpler.`,
        );
    void this.end(thread, refusal);
  }

  private start(): void {
    const { workerFile, heapMb, startMs, log } = this.options;
    const worker = new Worker(workerFile, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 },
      // A tool needs no environment, and stdout may belong to a protocol.
      env: {},
      execArgv: [],
      argv: [],
      stdout: true,
      stderr: true,
    });
    const thread: Thread = { worker, ready: false };
    this.threads.add(thread);
    for (const stream of [worker.stdout, worker.stderr]) stream.setEncoding('utf8').on('data', (text: string) => log(text.trimEnd()));
    const startLimit = setTimeout(() => void this.end(thread, new Refusal('UNAVAILABLE', 'A thread did not start.')), startMs);
    worker.on('message', (reply: WorkerReply) => {
      if ('ready' in reply) {
        clearTimeout(startLimit);
        this.failedStarts = 0;
        thread.ready = true;
      } else this.answer(thread, reply);
      this.assign();
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      log(`A thread ended: ${error.message}`);
      const refusal = memory
        ? new Refusal('OUT_OF_MEMORY', `The question needs more than ${heapMb} MB. Make it smaller.`)
        : new Refusal('INTERNAL', 'The thread of the tool ended unexpectedly.', { cause: error });
      void this.end(thread, refusal);
    });
    worker.on('exit', () => {
      clearTimeout(startLimit);
      void this.end(thread, new Refusal('INTERNAL', 'The thread of the tool ended unexpectedly.'));
    });
  }

  private answer(thread: Thread, reply: Exclude<WorkerReply, { ready: true }>): void {
    const { running } = thread;
    if (!running || running.id !== reply.id) return;
    clearTimeout(running.limit);
    delete thread.running;
    if ('output' in reply) running.waiting.resolve(reply.output);
    else running.waiting.reject(new Refusal(reply.refused.code, reply.refused.message));
  }

  /** The caller is notified at once; the thread may need some milliseconds to stop. */
  private async end(thread: Thread, refusal: Refusal): Promise<void> {
    if (!this.threads.delete(thread)) return;
    if (thread.running) {
      clearTimeout(thread.running.limit);
      thread.running.waiting.reject(refusal);
      delete thread.running;
    } else if (!thread.ready) this.failToStart();
    await thread.worker.terminate();
    this.assign();
  }

  /** Gives up after several failed starts: otherwise a worker file that cannot run would be started forever. */
  private failToStart(): void {
    this.failedStarts += 1;
    if (this.failedStarts < 3) return;
    this.failedStarts = 0;
    const refusal = new Refusal('UNAVAILABLE', 'The threads of the tools do not start; the log says why.');
    for (const waiting of this.queue.splice(0)) this.settle(waiting, () => waiting.reject(refusal));
  }
}
