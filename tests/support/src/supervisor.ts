import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { until } from './until.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface SupervisedOptions {
  /** For messages. */
  readonly name: string;
  /** The program to run, node by default. */
  readonly program?: string;
  /** Its arguments; for node: flags, the script, its arguments. */
  readonly args: readonly string[];
  /** Added to the environment of the test process; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** A line of its output that says it is ready, or an address that answers with a 2xx status. */
  readonly ready: RegExp | string;
  /** Time limit for becoming ready, 20 s by default. */
  readonly readyTimeoutMs?: number;
  /** Restarts it when SIGKILL ended it, no matter who sent it, or SIGALRM, by which it ends itself. Never after another end. */
  readonly restartAfterKill?: boolean;
  /** Environment of restarts, on top of `env`, such as `{ CRASH_AT: undefined }`. */
  readonly restartEnv?: Readonly<Record<string, string | undefined>>;
}

/** Groups of processes that are still alive; a test run that dies kills them too. */
const alive = new Set<number>();
process.once('exit', () => {
  for (const pid of alive) signalGroup(pid, 'SIGKILL');
});

const outputLimit = 1_000_000;

/** A process of a test in its own process group: killing it also kills its children, and nothing else. */
export class Supervised {
  private child: ChildProcess | null = null;
  private text = '';
  private startedAt = 0;
  private wanted = true;
  private readonly ends: Exit[] = [];
  private restartsWith: Readonly<Record<string, string | undefined>> | null = null;

  private constructor(private readonly options: SupervisedOptions) {}

  /** Resolves when the process is ready; throws with its output if it ends or stays silent before that. */
  static async start(options: SupervisedOptions): Promise<Supervised> {
    const supervised = new Supervised(options);
    supervised.spawn(options.env ?? {});
    try {
      await supervised.ready();
    } catch (error) {
      await supervised.stop();
      throw error;
    }
    return supervised;
  }

  /** Everything the process and its predecessors wrote to stdout and stderr; beyond 1 MB the oldest part is dropped. */
  output(): string {
    return this.text;
  }
  get pid(): number | null {
    return this.child?.pid ?? null;
  }
  /** Ends so far, oldest first: one more than the number of restarts once the process has finally ended. */
  exits(): readonly Exit[] {
    return this.ends;
  }

  /** Waits until the present process is ready. */
  async ready(): Promise<void> {
    const { name, ready, readyTimeoutMs = 20_000 } = this.options;
    try {
      await until(`${name} to be ready`, () => this.child === null || this.looksReady(ready), {
        timeoutMs: readyTimeoutMs,
        everyMs: 25,
      });
    } catch (error) {
      throw new Error(`${name} did not become ready.\n${this.tail()}`, { cause: error });
    }
    // A process that is started again after a kill is awaited; any other end before it was ready is final.
    if (this.child === null) throw new Error(`${name} ended before it was ready (${describe(this.ends.at(-1))}).\n${this.tail()}`);
  }

  /**
   * Sends a signal to the whole group, SIGKILL by default, and waits at most 10 s for the end of the process. If it was killed for good, it
   * is not started again until `restart`.
   */
  async kill(signal: NodeJS.Signals = 'SIGKILL', { forGood = false } = {}): Promise<Exit> {
    const { child } = this;
    if (!child?.pid) throw new Error(`${this.options.name} is not running.`);
    if (forGood) this.wanted = false;
    const ends = this.ends.length;
    signalGroup(child.pid, signal);
    return until(`${this.options.name} to end after ${signal}`, () => this.ends[ends], { timeoutMs: 10_000 });
  }

  /** Freezes (SIGSTOP) or wakes (SIGCONT) the whole group. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    if (!this.child?.pid) throw new Error(`${this.options.name} is not running.`);
    signalGroup(this.child.pid, signal);
  }

  /** Environment of the next restart after a kill, instead of `restartEnv`. */
  nextRestart(env: Readonly<Record<string, string | undefined>>): void {
    this.restartsWith = env;
  }

  /** Waits for the n-th end of the process (1 = the first), such as the one that a crash point causes. */
  nextExit(n: number, timeoutMs = 20_000): Promise<Exit> {
    return until(`end ${n} of ${this.options.name}`, () => this.ends[n - 1], { timeoutMs });
  }

  /** Starts the process again after it ended, and waits until it is ready. */
  async restart(env: Readonly<Record<string, string | undefined>> = this.options.restartEnv ?? {}): Promise<void> {
    if (this.child) throw new Error(`${this.options.name} is still running.`);
    this.wanted = true;
    this.spawn({ ...this.options.env, ...env });
    await this.ready();
  }

  /** SIGTERM, and after `graceMs` SIGKILL. Nothing is restarted after that. Safe to call twice. */
  async stop(graceMs = 5_000): Promise<Exit | null> {
    this.wanted = false;
    const { child } = this;
    if (!child?.pid) return this.ends.at(-1) ?? null;
    const ended = once(child, 'exit');
    signalGroup(child.pid, 'SIGTERM');
    const timer = setTimeout(() => signalGroup(child.pid!, 'SIGKILL'), graceMs);
    await ended;
    clearTimeout(timer);
    // Children that outlive their parent belong to the group too.
    signalGroup(child.pid, 'SIGKILL');
    return this.ends.at(-1) ?? null;
  }

  private spawn(env: Readonly<Record<string, string | undefined>>): void {
    this.startedAt = this.text.length;
    const child = spawn(this.options.program ?? process.execPath, this.options.args, {
      cwd: this.options.cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.child = child;
    if (child.pid) alive.add(child.pid);
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => this.keep(text));
    child.on('error', (error) => this.keep(`${String(error)}\n`));
    child.once('exit', (code, signal) => {
      if (child.pid) alive.delete(child.pid);
      this.child = null;
      const again = (signal === 'SIGKILL' || signal === 'SIGALRM') && this.wanted && this.options.restartAfterKill;
      this.ends.push({ code, signal, at: Date.now() });
      if (again) {
        const env = this.restartsWith ?? this.options.restartEnv;
        this.restartsWith = null;
        this.spawn({ ...this.options.env, ...env });
      }
    });
  }

  private keep(text: string): void {
    this.text += text;
    const excess = this.text.length - outputLimit;
    if (excess <= 0) return;
    this.text = this.text.slice(excess);
    this.startedAt = Math.max(0, this.startedAt - excess);
  }

  private async looksReady(ready: RegExp | string): Promise<boolean> {
    if (typeof ready !== 'string') return ready.test(this.text.slice(this.startedAt));
    const response = await fetch(ready, { signal: AbortSignal.timeout(1_000) });
    await response.body?.cancel();
    return response.ok;
  }

  private tail(): string {
    return this.text.slice(-4_000);
  }
}

const describe = (exit: Exit | undefined): string => (exit?.signal ? `signal ${exit.signal}` : `code ${exit?.code}`);

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: the group has already ended, as intended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
