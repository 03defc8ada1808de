import type { RunView, TaskView, Usage } from '@conclave/contracts';
import { short } from '@conclave/platform';
import type { GatewayClient } from './gateway-client.js';
import { localTask } from './run-printer.js';

interface Out {
  write(text: string): unknown;
}

interface ListOptions {
  /** Prints the gateway's JSON. */
  readonly json?: boolean;
  /** Most runs, 1 to 100; default: the gateway's page size. */
  readonly limit?: number | undefined;
}

/** The newest runs, one line each. */
export async function printRuns(client: GatewayClient, out: Out, { json = false, limit }: ListOptions = {}): Promise<void> {
  const { data } = await client.list(limit);
  if (json) return void out.write(`${JSON.stringify(data, null, 2)}\n`);
  if (data.length === 0) out.write('No runs yet. Ask something: npm run ask -- "question"\n');
  for (const run of data) {
    out.write(
      `${run.id}  ${new Date(run.acceptedAt).toISOString()}  ${run.status.padEnd(13)}  ${run.template.padEnd(18)}  ${short(run.question, 60)}\n`,
    );
  }
}

/** Prints one run: question, plan, findings, decisions and cost. */
export async function printRun(client: GatewayClient, id: string, out: Out): Promise<void> {
  out.write(runText(await client.run(id)));
}

export function runText(run: RunView): string {
  const lines = [
    `${run.id}  ${run.template.id} (${run.template.strategy}, version ${run.template.version})`,
    `Question  ${short(run.question, 400)}`,
    `Status    ${run.status}${run.reason ? `: ${run.reason}` : ''}`,
    ...run.rounds.flatMap(({ epoch, tasks, fallback, planned, plan }) => [
      `Round ${epoch + 1}${fallback ? ' (fallback plan)' : planned ? '' : ' (no plan)'}`,
      ...planLines(plan ?? {}),
      ...tasks.flatMap((task) => [
        `  ${localTask(task.id).padEnd(18)} ${task.capability.padEnd(22)} ${task.status.padEnd(11)} ${task.model ?? ''}${task.failure ? ` ${short(task.failure.message, 80)}` : ''}`,
        ...callLines(task.call),
      ]),
    ]),
    ...run.decisions.map(({ epoch, sentence }) => `Decision  round ${epoch + 1}: ${sentence}`),
    ...run.history.filter(({ gap }) => gap).map(({ iteration, gap }) => `Gap       round ${iteration + 1}: ${short(gap, 200)}`),
    ...(run.answer === null ? [] : ['', run.answer, '']),
    ...run.sources.map(
      ({ n, title, call, url }) =>
        `Source    ${n === undefined ? '' : `[${n}] `}${title}${call ? ` (${call})` : ''}${url ? ` · ${url}` : ''}`,
    ),
    `Usage     ${usageText(run.usage.total)}${inFlight(run.usage.openCalls)}`,
    ...(recordedMore(run.usage) ? [`Recorded  ${usageText(run.usage.recorded)}, including calls that the run did not wait for`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** Textual content of a plan besides its tasks. */
const planLines = (plan: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(plan).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [`  ${name.padEnd(18)} ${short(value, 200)}`] : [],
  );

/** A tool call and its result. */
const callLines = (call: TaskView['call']): readonly string[] =>
  call
    ? [
        `    ${call.tool} ${short(JSON.stringify(call.args), 160)}`,
        ...(call.result ? [`    -> ${short(call.result.replace(/\s+/g, ' '), 160)}`] : []),
      ]
    : [];

const usageText = ({ calls, prompt, completion, cost, estimated }: Usage): string =>
  `${calls} ${calls === 1 ? 'call' : 'calls'}, ${prompt} prompt and ${completion} completion tokens${estimated ? ' (estimated)' : ''}${cost > 0 ? `, cost ${cost.toFixed(4)}` : ''}`;

const inFlight = (calls: number): string =>
  calls === 0 ? '' : `; ${calls} ${calls === 1 ? 'call was' : 'calls were'} in flight when it ended`;

/** Whether the ledger contains calls or tokens that the run itself does not count. */
const recordedMore = (usage: RunView['usage']): usage is RunView['usage'] & { readonly recorded: Usage } =>
  usage.recorded !== null &&
  (usage.recorded.calls > usage.total.calls ||
    usage.recorded.prompt > usage.total.prompt ||
    usage.recorded.completion > usage.total.completion);
