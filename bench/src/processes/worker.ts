import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { WorkerReply, WorkerRequest } from './worker-host.js';

export interface WorkerOptions {
  /** For messages. */
  readonly name: string;
  /** File to run; it calls `hostMethods`. */
  readonly script: URL;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Folder for a CPU profile, written when the process ends. */
  readonly profile?: string | undefined;
  readonly onEvent?: (event: string, value: unknown) => void;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

const readyWithinMs = 90_000;
const callWithinMs = 300_000;
const endWithinMs = 20_000;

/** A Node child process that runs methods on request. It always ends with this process. */
export class Worker {
  private readonly pending = new Map<number, Pending>();
  private calls = 0;
  private output = '';

  private constructor(
    private readonly child: ChildProcess,
    private readonly options: WorkerOptions,
  ) {
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output = (this.output + text).slice(-8_000)));
  }

  /** Resolves when the process is ready; throws with its last output when it ends or hangs before. */
  static async start(options: WorkerOptions): Promise<Worker> {
    const { script, args = [], env = {}, profile } = options;
    const child = fork(script, [...args], {
      execArgv: [...profileFlags(profile)],
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const worker = new Worker(child, options);
    await worker.bounded(
      'start',
      readyWithinMs,
      new Promise<void>((resolve, reject) => {
        child.on('message', (reply: WorkerReply) => {
          if ('event' in reply && reply.event === 'ready') resolve();
          else worker.take(reply);
        });
        child.once('exit', (code, signal) => {
          const error = worker.failure(`ended with ${signal ?? `code ${code}`}`);
          reject(error);
          for (const { reject: refuse } of worker.pending.values()) refuse(error);
          worker.pending.clear();
        });
        child.once('error', reject);
      }),
    );
    return worker;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Throws what the method threw, or an error when the process ends or takes longer than five minutes. */
  call<T>(method: string, input: unknown = null): Promise<T> {
    const id = (this.calls += 1);
    const answer = new Promise<unknown>((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.child.send({ id, method, input } satisfies WorkerRequest, (error) => error && reject(error));
    });
    return this.bounded(method, callWithinMs, answer as Promise<T>).finally(() => this.pending.delete(id));
  }

  /** Asks it to end, and kills it after a while. Safe to call twice. */
  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    if (this.child.connected) this.child.disconnect();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), endWithinMs);
    await ended;
    clearTimeout(timer);
  }

  private take(reply: WorkerReply): void {
    if ('event' in reply) return this.options.onEvent?.(reply.event, reply.value);
    const call = this.pending.get(reply.id);
    if (reply.ok) call?.resolve(reply.value);
    else call?.reject(this.failure(`failed: ${reply.error}`));
  }

  private failure(what: string): Error {
    return new Error(`${this.options.name} ${what}${this.output ? `\n${this.output}` : ''}`);
  }

  private async bounded<T>(what: string, ms: number, work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.failure(`did not finish "${what}" within ${ms / 1000} s`)), ms);
    });
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      if (what === 'start') this.child.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Node flags that write a CPU profile to the folder. */
export const profileFlags = (folder: string | undefined): readonly string[] =>
  folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
