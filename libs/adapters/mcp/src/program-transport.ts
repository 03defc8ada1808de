import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import pTimeout from 'p-timeout';
import { Failure } from '@conclave/contracts';
import type { ServerBounds } from './bounds.js';
import type { Launch } from './launch-plan.js';
import { LongMessage, longestRead, tooLong } from './long-message.js';
import type { ProgramLog } from './program-log.js';
import { readMessage } from './read-message.js';
import { doesNotFollow, StrayCount } from './stray-count.js';

/** Milliseconds a program has to exit after the end of its input, and again after SIGTERM. */
const graceMs = 500;

/**
 * A program that exchanges one JSON message per line over its standard input and output. Unlike the SDK's transport, it passes on none of
 * our environment, gives the program its own process group so that its children end with it, and bounds what is read and written.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Called for a call whose answer is too long, while the program runs on. */
  onLost?: (id: number, failure: Failure) => void;
  /** Why it ended, or is being ended; null while it runs. */
  failure: Failure | null = null;
  private child: ChildProcessWithoutNullStreams | null = null;
  private ended: Promise<void> = Promise.resolve();
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private long: LongMessage | null = null;
  private readonly strays: StrayCount;

  constructor(
    private readonly launch: Extract<Launch, { kind: 'program' }>,
    private readonly bounds: ServerBounds,
    private readonly log: ProgramLog,
  ) {
    this.strays = new StrayCount(bounds);
  }

  /** Process id, also that of its group; null while it does not run. */
  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { command, args, env, folder } = this.launch;
      const child = spawn(command, args, { env: { ...env }, cwd: folder, stdio: 'pipe', detached: true, windowsHide: true });
      this.child = child;
      child.once('spawn', resolve);
      child.once('error', (error: NodeJS.ErrnoException) => {
        const why = error.code === 'ENOENT' ? noProgram(command) : `\`${command}\` cannot be started: ${error.code}.`;
        this.failure ??= new Failure('TOOL_SERVER_UNAVAILABLE', why, { cause: error });
        reject(this.failure);
      });
      child.stdin.on('error', (error) => this.onerror?.(error));
      child.stdout.on('error', (error) => this.onerror?.(error));
      child.stdout.on('data', (chunk: Buffer) => this.read(chunk));
      child.stderr.on('data', (chunk: Buffer) => this.log.write(chunk));
      let how = 'could not be started';
      const over = new Promise<void>((settle) => {
        child.once('exit', (code, signal) => {
          how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
          // Ends its children too, which releases its output.
          this.killGroup();
          // Reads remaining output first, with a limit: a process outside the group may hold it open forever.
          const late = setTimeout(settle, graceMs);
          child.once('close', () => {
            clearTimeout(late);
            settle();
          });
        });
        child.once('error', () => settle());
      });
      this.ended = over.then(() => {
        this.log.flush();
        this.failure ??= new Failure('TOOL_SERVER_UNAVAILABLE', `Its program ${how}.`, { context: { said: this.log.last } });
        this.child = null;
        for (const stream of [child.stdout, child.stderr, child.stdin]) stream.destroy();
        this.onclose?.();
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.child?.stdin;
    if (!input?.writable) throw new Failure('TOOL_SERVER_UNAVAILABLE', 'Its program does not run.');
    input.write(`${JSON.stringify(message)}\n`);
    if (input.writableLength > this.bounds.messageBytes) {
      this.kill(new Failure('TOOL_SERVER_UNAVAILABLE', 'Its program does not read its input.'));
    }
  }

  async close(): Promise<void> {
    if (!this.child) return this.ended;
    this.failure ??= new Failure('TOOL_SERVER_UNAVAILABLE', 'Its connection was closed.');
    this.child.stdin.end();
    if (await this.endsWithin(graceMs)) return;
    this.killGroup('SIGTERM');
    if (await this.endsWithin(graceMs)) return;
    this.killGroup();
    await this.endsWithin(2 * graceMs);
  }

  /** Kills it at once. */
  kill(why: Failure): void {
    this.failure ??= why;
    this.pending = [];
    this.child?.stdout.removeAllListeners('data');
    this.killGroup();
  }

  private killGroup(signal: NodeJS.Signals = 'SIGKILL'): void {
    const pid = this.child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      // ESRCH: the group has no process left.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') this.onerror?.(error as Error);
    }
  }

  private endsWithin(ms: number): Promise<boolean> {
    return pTimeout(
      this.ended.then(() => true),
      { milliseconds: ms, fallback: () => false },
    );
  }

  private read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.hold(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      this.lineEnds();
    }
    if (rest.length > 0) this.hold(rest);
  }

  /** Adds a part to the line that is being read. */
  private hold(part: Buffer): void {
    if (this.long === null) {
      this.pending.push(part);
      this.pendingBytes += part.length;
      if (this.pendingBytes <= this.bounds.messageBytes) return;
      this.long = new LongMessage();
      for (const one of this.pending) this.long.add(one);
      [this.pending, this.pendingBytes] = [[], 0];
    } else this.long.add(part);
    if (this.long.bytes > longestRead * this.bounds.messageBytes) this.kill(this.tooLarge());
  }

  private lineEnds(): void {
    if (this.failure) return;
    if (this.long) {
      const { id } = this.long;
      this.long = null;
      return id === null ? this.kill(this.tooLarge()) : this.onLost?.(id, this.tooLarge());
    }
    const line = Buffer.concat(this.pending).toString('utf8');
    [this.pending, this.pendingBytes] = [[], 0];
    if (line.trim() !== '') this.take(line);
  }

  private tooLarge(): Failure {
    return tooLong(this.bounds.messageBytes);
  }

  private take(line: string): void {
    const message = readMessage(line);
    if (message) return this.onmessage?.(message);
    const { first, tooMany } = this.strays.add();
    if (first) this.onerror?.(new Error('It writes lines that are not messages of the protocol.'));
    if (tooMany) this.kill(doesNotFollow('The output of its program'));
  }
}

const noProgram = (command: string): string =>
  `There is no program \`${command}\`.${/\S\s+\S/.test(command) ? ' Its arguments belong under `args`, as a list.' : ''}`;
