import { randomUUID } from 'node:crypto';
import { clearScreenDown, createInterface, cursorTo, moveCursor, type Interface } from 'node:readline';
import { exitCodes } from './ask.js';
import { GatewayRefusal, type GatewayClient } from './gateway-client.js';
import { typedCommand, typedHelp } from './run-control.js';
import { RunPrinter } from './run-printer.js';
import { paintFor } from './terminal-look.js';
import { commandPrefix } from './typed.js';
import { UsageMistake } from './usage.js';

export interface WatchCommand {
  readonly client: GatewayClient;
  readonly runId: string;
  /** The keyboard, or a file or pipe of typed lines. */
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Receives everything. A terminal keeps the line that is being typed below it. */
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Output in whole lines above the line that is being typed. */
class LinesAbove {
  private rest = '';

  constructor(
    private readonly out: NodeJS.WritableStream,
    private readonly typed: Interface | null,
  ) {}

  write(text: string): void {
    const lines = `${this.rest}${text}`.split('\n');
    this.rest = lines.pop()!;
    if (lines.length > 0) this.put(`${lines.join('\n')}\n`);
  }

  end(): void {
    if (this.rest !== '') this.put(`${this.rest}\n`);
    this.rest = '';
  }

  private put(text: string): void {
    if (!this.typed) return void this.out.write(text);
    moveCursor(this.out, 0, -this.typed.getCursorPos().rows);
    cursorTo(this.out, 0);
    clearScreenDown(this.out);
    this.out.write(text);
    this.typed.prompt(true);
  }
}

/**
 * Shows a run live until it ends, and sends the commands that are typed in the meantime, one per line. The end of the input, `quit` and
 * Ctrl-C at a terminal stop only the watching. Returns the exit code: that of `ask`, and 0 if the run continues. Throws GatewayRefusal.
 */
export async function watch({ client, runId, input, out, environment = process.env }: WatchCommand): Promise<number> {
  const isTerminal = input.isTTY === true && out.isTTY === true;
  const typed = createInterface({ input, ...(isTerminal ? { output: out, prompt: '> ', terminal: true } : { terminal: false }) });
  const lines = new LinesAbove(out, isTerminal ? typed : null);
  const printer = new RunPrinter(lines, lines, { paint: paintFor(out.isTTY === true, environment) });
  const stop = new AbortController();
  let asked = false;
  const send = async (line: string): Promise<void> => {
    const said = line.trim().toLowerCase();
    if (said === '') return;
    if (said === 'help' || said === '?') return lines.write(typedHelp);
    if (said === 'quit' || said === 'q') return stop.abort();
    try {
      await client.command(runId, typedCommand(line, asked), randomUUID());
    } catch (error) {
      if (!(error instanceof UsageMistake) && !(error instanceof GatewayRefusal)) throw error;
      lines.write(`${error.message}\n`);
    }
  };
  // One after the other, in the order in which they were typed.
  let sending = Promise.resolve();
  let broken: unknown = null;
  const leave = (error: unknown): void => {
    broken ??= error;
    stop.abort();
  };
  typed.on('line', (line) => {
    sending = sending.then(() => send(line)).catch(leave);
    if (isTerminal) typed.prompt();
  });
  typed.on('SIGINT', () => stop.abort());
  // Piped lines may end long before the run does; at a terminal Ctrl-D leaves.
  typed.on('close', () => {
    if (isTerminal) stop.abort();
  });
  if (isTerminal) {
    lines.write('Type a command, or "help".\n');
    typed.prompt();
  }
  try {
    for await (const entry of client.events(runId, stop.signal)) {
      if (entry.kind === 'question.asked') asked = true;
      if (entry.kind === 'command.applied' && entry.name === 'answer') asked = false;
      printer.take(entry);
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    lines.end();
    typed.close();
    await sending;
  }
  if (broken !== null) throw broken as Error;
  const { result } = printer;
  if (result === null) {
    out.write(`The run continues: \`${commandPrefix} run ${runId} --watch\` shows it again.\n`);
    return exitCodes.answered;
  }
  if (result.outcome === 'cancelled') return exitCodes.cancelled;
  return result.answer === null ? exitCodes.failed : exitCodes.answered;
}
