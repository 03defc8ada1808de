import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, type RunView } from '@conclave/contracts';
import { logPlace, type OpenPortsOptions } from '@conclave/host';
import type { Loaded } from '@conclave/platform';
import { exitCodes } from './ask.js';
import { comparedFacts, forkText } from './fork-text.js';
import { type GatewayClient, GatewayRefusal } from './gateway-client.js';
import { withOwnGateway } from './own-gateway.js';
import { RunPrinter } from './run-printer.js';
import { findGateway } from './running-gateway.js';

export interface ForkCommand {
  readonly loaded: Loaded;
  readonly runId: string;
  /** Last step that the new run shares with this one. */
  readonly step: number;
  /** Makes every call from then on; null for today's models of the run's template. */
  readonly model: string | null;
  /** Prints both runs as one JSON object instead. Default false. */
  readonly json?: boolean;
  /** Receives both runs side by side. */
  readonly out: { write(text: string): unknown };
  /** Receives progress and warnings. */
  readonly terminal: { write(text: string): unknown };
  readonly localServers?: OpenPortsOptions['localServers'];
  /** Aborts when the user gives up; the new run is then cancelled. */
  readonly signal: AbortSignal;
}

/**
 * Continues a run after a step as a new run, shows its progress, then both side by side. Uses the running gateway, otherwise opens the
 * data folder in this process. Returns the exit code. Throws GatewayRefusal, RUN_NOT_FOUND, DATA_FOLDER_IN_USE.
 */
export function forkCommand(command: ForkCommand): Promise<number> {
  return withRunsOf(command, 'fork', (client) => forkAt(client, command));
}

/**
 * The running gateway, or one in this process on the data folder, for a command that begins a run beside a recorded one. Throws as
 * `forkCommand`.
 */
export async function withRunsOf(
  { loaded, terminal, localServers }: Pick<ForkCommand, 'loaded' | 'terminal' | 'localServers'>,
  service: string,
  use: (client: GatewayClient) => Promise<number>,
): Promise<number> {
  const running = await findGateway(loaded);
  if (running) return use(running);
  if (loaded.configuration.stores.kafka)
    throw new GatewayRefusal('A fork is a new run, and no gateway is running here to accept it. Start one, or name one with CONCLAVE_URL.');
  if (!existsSync(join(loaded.home, 'conclave.db'))) throw new Failure('RUN_NOT_FOUND', `Nothing is recorded in ${logPlace(loaded)}.`);
  return withOwnGateway({ loaded, service, terminal, ...(localServers ? { localServers } : {}) }, use);
}

/** Shows the progress of a run up to its end; cancels it when the user gives up. */
export async function followRun(
  client: GatewayClient,
  id: string,
  { terminal, signal }: Pick<ForkCommand, 'terminal' | 'signal'>,
): Promise<void> {
  const printer = new RunPrinter({ write: () => undefined }, terminal);
  const onAbort = (): void => {
    terminal.write('\nCancelling ...\n');
    client.cancel(id).catch((error: unknown) => terminal.write(`${error instanceof Error ? error.message : String(error)}\n`));
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for await (const entry of client.events(id)) {
      printer.take(entry);
      if (entry.kind === 'question.asked')
        terminal.write(`   answer it with: npm run conclave -- run ${id} --answer <text>, or cancel with Ctrl-C\n`);
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The exit code of a command that shows a live run. */
export const codeOf = ({ outcome, answer }: Pick<RunView, 'outcome' | 'answer'>): number =>
  outcome === 'cancelled' ? exitCodes.cancelled : answer === null ? exitCodes.failed : exitCodes.answered;

async function forkAt(client: GatewayClient, command: ForkCommand): Promise<number> {
  const { runId, step, model, json = false, out } = command;
  const { id } = await client.fork(runId, step, model);
  await followRun(client, id, command);
  const [original, fork, { data: originalFacts }, { data: forkFacts }] = await Promise.all([
    client.run(runId),
    client.run(id),
    client.facts(runId),
    client.facts(id),
  ]);
  const pair = { step, original, fork, originalFacts, forkFacts };
  out.write(json ? `${JSON.stringify({ step, original, fork, facts: comparedFacts(pair) }, null, 2)}\n` : forkText(pair));
  return codeOf(fork);
}
