import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A program that reads one line of JSON and writes one line of JSON. Its first line is `{"ready": version}`; a reply with `"last": true` is
 * its last.
 */
export interface LineProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** Milliseconds until its first line. */
  readonly readyWithinMs: number;
}

export type LineReply = Readonly<Record<string, unknown>>;

/** Why a question has no reply. */
export class ProcessEnded extends Error {
  constructor(
    readonly reason: 'overrun' | 'cancelled' | 'ended' | 'flood',
    readonly how: string,
  ) {
    super(how);
  }
}

/** Longest line that is read, characters. */
const longestLine = 2_000_000;
/** Characters of its error output that are kept. */
const keptErrors = 2_000;

/** One running program. It gets no environment and an empty folder, and is ended if it does not reply in time. */
export class LineProcess {
  private buffer = '';
  private errors = '';
  private dead: string | null = null;
  private waiting: { resolve(reply: LineReply): void; reject(error: Error): void } | null = null;
  private asked = 0;
  readonly ended: Promise<void>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => this.arrived(text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.errors = (this.errors + text).slice(-keptErrors)));
    // The end of the program is noticed below; a failed write to it needs no second report.
    child.stdin!.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      const over = (how: string): void => {
        if (this.dead !== null) return;
        this.dead = how;
        rmSync(this.folder, { recursive: true, force: true });
        this.waiting?.reject(new ProcessEnded('ended', how));
        this.waiting = null;
        resolve();
      };
      child.once('error', (error: NodeJS.ErrnoException) => over(error.code ?? error.message));
      child.once('close', (code, signal) => over(signal ?? `exit code ${code ?? 0}`));
    });
  }

  /** Starts the program and returns it with its first line. Throws ProcessEnded. */
  static async start({ file, args, readyWithinMs }: LineProgram): Promise<{ readonly process: LineProcess; readonly first: LineReply }> {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-math-'));
    const child = spawn(file, args, { cwd: folder, env: {}, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
    const process = new LineProcess(child, folder);
    try {
      const first = await process.nextLine({ withinMs: readyWithinMs });
      process.hold(false);
      return { process, first };
    } catch (error) {
      if (!(error instanceof ProcessEnded)) throw error;
      throw new ProcessEnded(error.reason, process.errors.trim().split('\n').at(-1) || error.how);
    }
  }

  get sound(): boolean {
    return this.dead === null && this.waiting === null;
  }

  /** Asks a question, one at a time, and returns the reply. If it throws ProcessEnded, the process has ended. */
  async ask(question: LineReply, within: { readonly withinMs: number; readonly signal?: AbortSignal }): Promise<LineReply> {
    if (this.dead !== null) throw new ProcessEnded('ended', this.dead);
    const id = (this.asked += 1);
    this.hold(true);
    const line = this.nextLine(within);
    this.child.stdin!.write(`${JSON.stringify({ id, ...question })}\n`);
    const reply = await line;
    if (reply['id'] !== id) {
      await this.kill();
      throw new ProcessEnded('flood', 'it answered another question');
    }
    if (reply['last'] === true) await this.kill();
    else this.hold(false);
    return reply;
  }

  /** Kills the program, and resolves when it has ended. */
  async kill(): Promise<void> {
    if (this.dead === null) this.child.kill('SIGKILL');
    await this.ended;
  }

  /** While it is idle, the program does not keep this process alive. */
  private hold(on: boolean): void {
    const parts = [this.child, this.child.stdin, this.child.stdout, this.child.stderr] as unknown as Socket[];
    for (const part of parts)
      if (on) part.ref();
      else part.unref();
  }

  private async nextLine({ withinMs, signal }: { readonly withinMs: number; readonly signal?: AbortSignal }): Promise<LineReply> {
    let timer: NodeJS.Timeout | undefined;
    let onAbort: () => void = () => undefined;
    try {
      return await new Promise<LineReply>((resolve, reject) => {
        this.waiting = { resolve, reject };
        if (this.dead !== null) return reject(new ProcessEnded('ended', this.dead));
        timer = setTimeout(() => reject(new ProcessEnded('overrun', `no reply within ${withinMs} ms`)), withinMs);
        onAbort = () => reject(new ProcessEnded('cancelled', 'cancelled'));
        signal?.addEventListener('abort', onAbort, { once: true });
        if (signal?.aborted) onAbort();
      });
    } catch (error) {
      this.waiting = null;
      await this.kill();
      throw error;
    } finally {
      this.waiting = null;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  private arrived(text: string): void {
    this.buffer += text;
    const end = this.buffer.indexOf('\n');
    if (end < 0 && this.buffer.length <= longestLine) return;
    const line = this.buffer.slice(0, end < 0 ? 0 : end);
    this.buffer = end < 0 ? '' : this.buffer.slice(end + 1);
    const reply = end < 0 ? null : parsed(line);
    if (reply) this.waiting?.resolve(reply);
    else this.waiting?.reject(new ProcessEnded('flood', 'its output is no reply'));
  }
}

function parsed(line: string): LineReply | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as LineReply) : null;
  } catch {
    return null;
  }
}
