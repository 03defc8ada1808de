import { Failure } from '@conclave/contracts';
import { short } from '@conclave/platform';
import { progressText } from '@conclave/service-gateway';
import type { Loaded } from '@conclave/platform';
import { exitCodes } from './ask.js';
import { GatewayRefusal, type GatewayClient } from './gateway-client.js';
import { replayCommand } from './replay.js';
import { factHead, factLines } from './run-facts.js';
import { findGateway } from './running-gateway.js';
import { printRun } from './runs.js';

export interface RunCommand {
  readonly loaded: Loaded;
  readonly runId: string;
  /** Also prints the timeline, even if a gateway answers. */
  readonly timeline: boolean;
  /** Prints every fact of the run instead, each with its step. */
  readonly facts?: boolean;
  /** Prints the gateway's JSON. Default false. */
  readonly json?: boolean;
  readonly out: { write(text: string): unknown };
  /** Receives where the run was searched, and warnings of the stores. */
  readonly terminal: { write(text: string): unknown };
}

/**
 * Shows one run: plan, tasks, decisions, answer and cost from a running gateway, otherwise every event from the log. Returns the exit
 * code. Throws GatewayRefusal, RUN_NOT_FOUND; errors of the stores pass through.
 */
export async function runCommand(command: RunCommand): Promise<number> {
  const { loaded, runId, timeline, out, terminal } = command;
  const client = await findGateway(loaded);
  if (!client) {
    terminal.write('No gateway is running here: these are the records of the run on the log.\n');
    return fromLog(command);
  }
  if (command.facts) {
    const { data } = await client.facts(runId);
    if (command.json) out.write(`${JSON.stringify(data, null, 2)}\n`);
    else for (const line of [factHead(runId, data), ...factLines(data)]) out.write(`${line}\n`);
    return exitCodes.answered;
  }
  if (command.json) {
    out.write(`${JSON.stringify(await client.run(runId), null, 2)}\n`);
    return exitCodes.answered;
  }
  await printRun(client, runId, out);
  if (!timeline) return exitCodes.answered;
  out.write('\nTimeline\n');
  // While a gateway runs, no other process can read a log in its data folder.
  if (loaded.configuration.stores.kafka && loaded.environment.CONCLAVE_URL === undefined)
    try {
      return await fromLog(command);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'RUN_NOT_FOUND') throw error;
    }
  await printEntries(client, runId, out);
  return exitCodes.answered;
}

const fromLog = ({ loaded, runId, facts = false, out, terminal }: RunCommand): Promise<number> =>
  replayCommand({ loaded, runId, recorded: false, facts, out, terminal });

/** Prints the entries of the run stream with the time since the first one. Follows an open run to its end. */
async function printEntries(client: GatewayClient, runId: string, out: RunCommand['out']): Promise<void> {
  let start: number | null = null;
  let writing = null as { readonly task: string; characters: number } | null;
  const line = (at: number, kind: string, text: string): void => {
    start ??= at;
    out.write(`${`+${((at - start) / 1000).toFixed(3)} s`.padStart(12)}  ${kind.padEnd(16)}  ${short(text, 400)}`.trimEnd() + '\n');
  };
  for await (const entry of client.events(runId)) {
    if (entry.kind === 'snapshot')
      throw new GatewayRefusal(
        `Earlier events are no longer stored: the run is ${entry.status}. With the server stopped, \`conclave replay ${runId}\` shows its log.`,
      );
    if (entry.kind === 'chunk') {
      if (writing?.task === entry.taskId) writing.characters += entry.text.length;
      else {
        writing = { task: entry.taskId, characters: entry.text.length };
        line(entry.at, 'chunk', `the first text of ${entry.taskId.slice(runId.length + 1)}`);
      }
      continue;
    }
    if (entry.kind === 'run.completed') {
      line(entry.at, entry.kind, `${entry.outcome}: ${entry.reason}${writing ? `, ${writing.characters} characters were shown` : ''}`);
    } else if (entry.kind === 'decided') line(entry.at, entry.kind, `⚖️ ${entry.sentence}`);
    else line(entry.at, entry.kind, progressText(entry) ?? ('taskId' in entry ? (entry.taskId ?? '').slice(runId.length + 1) : ''));
  }
}
