import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import pTimeout from 'p-timeout';
import { Failure } from '@conclave/contracts';
import type { ServerBounds } from './bounds.js';
import type { Launch } from './launch-plan.js';
import type { ProgramLog } from './program-log.js';

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
  /** Why it ended, or is being ended; null while it runs. */
  failure: Failure | null = null;
  private child: ChildProcessWithoutNullStreams | null = null;
  private ended: Promise<void> = Promise.resolve();
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private stray = { since: 0, lines: 0, ever: false };

  constructor(
    private readonly launch: Extract<Launch, { kind: 'program' }>,
    private readonly bounds: ServerBounds,
    private readonly log: ProgramLog,
  ) {}

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
      const line = Buffer.concat([...this.pending, rest.subarray(0, end)]).toString('utf8');
      this.pending = [];
      this.pendingBytes = 0;
      rest = rest.subarray(end + 1);
      if (line.trim() !== '') this.take(line);
    }
    if (rest.length === 0) return;
    this.pending.push(rest);
    this.pendingBytes += rest.length;
    if (this.pendingBytes > this.bounds.messageBytes)
      this.kill(new Failure('TOOL_RESULT_TOO_LARGE', `It sent a message longer than ${this.bounds.messageBytes} bytes.`));
  }

  private take(line: string): void {
    if (line.length > this.bounds.messageBytes)
      return this.kill(new Failure('TOOL_RESULT_TOO_LARGE', `It sent a message longer than ${this.bounds.messageBytes} bytes.`));
    const message = messageIn(line);
    if (message) return this.onmessage?.(message);
    if (!this.stray.ever) this.onerror?.(new Error('It writes lines that are not messages of the protocol.'));
    const now = performance.now();
    const { since, lines } = this.stray;
    const isOver = now - since > this.bounds.strayMs;
    this.stray = isOver ? { since: now, lines: 1, ever: true } : { since, lines: lines + 1, ever: true };
    if (this.stray.lines > this.bounds.strayLines)
      this.kill(new Failure('TOOL_SERVER_UNAVAILABLE', 'The output of its program does not follow the protocol of MCP servers.'));
  }
}

const noProgram = (command: string): string =>
  `There is no program \`${command}\`.${/\S\s+\S/.test(command) ? ' Its arguments belong under `args`, as a list.' : ''}`;

function messageIn(line: string): JSONRPCMessage | null {
  try {
    return JSONRPCMessageSchema.safeParse(JSON.parse(line)).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}
