import { text } from 'node:stream/consumers';
import pTimeout from 'p-timeout';
import type { Loaded } from '@conclave/platform';
import type { OpenPortsOptions } from '@conclave/host';
import { knownStrategy } from '@conclave/strategies';
import type { EmbeddedSystem } from '../system.js';
import type { GatewayClient } from './gateway-client.js';
import { withOwnGateway } from './own-gateway.js';
import { findGateway } from './running-gateway.js';
import { RunPrinter, type PrinterLook } from './run-printer.js';
import { paintFor, WaitingLine } from './terminal-look.js';

export interface AskOptions {
  readonly loaded: Loaded;
  readonly question: string;
  readonly model: string;
  /** False: no cache is read or written. Default true. */
  readonly cache?: boolean;
  /** Prints the outcome as one JSON object instead of the answer. Default false. */
  readonly json?: boolean;
  readonly answer: AskOutput;
  /** Progress output; a terminal gets colours and the elapsed time. */
  readonly progress: AskOutput;
  /** Where a run without an answer says why, if its progress is not shown. */
  readonly failures?: AskOutput;
  /** NO_COLOR, FORCE_COLOR and TERM; default: those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly localServers?: OpenPortsOptions['localServers'];
  /** Aborts when the user gives up; the run is then cancelled. */
  readonly signal: AbortSignal;
}

export interface AskOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Milliseconds between two updates of the line that shows the elapsed time. */
const tickMs = 100;

/** Exit codes; `cancelled`: the user gave up. */
export const exitCodes = { answered: 0, failed: 1, usage: 2, cancelled: 130 } as const;

/** Asks one question of a running gateway, or of an embedded one in this process for this question. Returns the exit code. */
export async function ask(options: AskOptions): Promise<number> {
  const { progress, answer } = options;
  const began = performance.now();
  const elapsedMs = (): number => performance.now() - began;
  const paint = paintFor(progress.isTTY === true, options.environment ?? process.env);
  const line = progress.isTTY ? new WaitingLine(progress, elapsedMs, paint) : null;
  if (!line) return askWith(options, { paint, elapsedMs });
  const ticking = setInterval(() => line.tick(), tickMs);
  try {
    // An answer written to a file does not disturb the line.
    const shown = answer.isTTY ? line.beneath(answer) : answer;
    return await askWith({ ...options, answer: shown, progress: line.beneath(progress) }, { paint, elapsedMs });
  } finally {
    clearInterval(ticking);
    line.clear();
  }
}

async function askWith(options: AskOptions, look: PrinterLook): Promise<number> {
  const { loaded } = options;
  const running = await findGateway(loaded);
  if (running) return follow(running, options, look);
  return withOwnGateway(
    { loaded, service: 'ask', terminal: options.progress, ...(options.localServers ? { localServers: options.localServers } : {}) },
    async (client, system) => {
      if (callsTools(system, options.model)) {
        options.progress.write('(waiting for the tool servers)\n');
        await pTimeout(system.toolsListed, { milliseconds: toolsMs, fallback: () => undefined });
      }
      return follow(client, options, look);
    },
  );
}

/** Milliseconds to wait for the tool servers' lists before a question continues without them. */
const toolsMs = 15_000;

/** Whether the template calls tools and there are none yet; some templates exist only once there are tools. */
function callsTools({ catalogue }: EmbeddedSystem, model: string): boolean {
  const named = catalogue.resolve(model);
  if (named?.kind !== 'template') return named === null;
  return (knownStrategy(named.template.strategy)?.callsTools ?? false) && (named.template.tools ?? []).length === 0;
}

async function follow(
  client: GatewayClient,
  { question, model, cache = true, json = false, answer, progress, failures, signal }: AskOptions,
  look: PrinterLook,
): Promise<number> {
  const { id } = await client.start(model, question, cache);
  const printer = new RunPrinter(json ? { write: () => undefined } : answer, progress, look);
  const onAbort = (): void => {
    progress.write('\nCancelling ...\n');
    client.cancel(id).catch((error: unknown) => progress.write(`${error instanceof Error ? error.message : String(error)}\n`));
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for await (const entry of client.events(id)) printer.take(entry);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  const { result } = printer;
  if (json) answer.write(`${JSON.stringify({ ...result, id })}\n`);
  if (result?.outcome === 'cancelled') return exitCodes.cancelled;
  if (result && result.answer !== null) return exitCodes.answered;
  if (result) failures?.write(`${result.reason}\n`);
  return exitCodes.failed;
}

/** The question from the arguments, or from piped standard input. */
export async function questionFrom(words: readonly string[], input: NodeJS.ReadStream): Promise<string> {
  const said = words.join(' ').trim();
  if (said && said !== '-') return said;
  return input.isTTY ? '' : (await text(input)).trim();
}
