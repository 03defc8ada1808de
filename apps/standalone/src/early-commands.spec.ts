import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openSqlite } from '@conclave/adapter-sqlite';
import { CommandIssued, commandId, makeEvent, PlanRequested, type CommandName, type Template } from '@conclave/contracts';
import { loadExtensions } from '@conclave/extensions';
import { statusOf, type RunState } from '@conclave/loop';
import { noProbe, openMetrics, openReadiness, serve, silentLogger, type Ports } from '@conclave/platform';
import { MergerModule } from '@conclave/service-merger';
import { commandMatrix, commandNames } from '@conclave/strategies/commands-suite';
import { until } from '@conclave/test-support';
import { workspaceRoot } from '@conclave/test-support/system';

type Issued = CommandIssued['data']['command'];
const commands: Readonly<Record<CommandName, Issued>> = {
  pause: { name: 'pause' },
  resume: { name: 'resume' },
  steer: { name: 'steer', text: 'only the red ones' },
  add_context: { name: 'add_context', text: 'there are two' },
  override_step: { name: 'override_step', skill: 'general', input: 'red ones' },
  answer: { name: 'answer', text: 'the red one' },
  cancel: { name: 'cancel', reason: 'enough' },
};
const template = {
  id: 'steps',
  version: 'v1',
  description: '',
  strategy: 'stepping',
  max_agentic_rounds: 3,
  gap_check: 'evidence',
  planner: { models: ['m@fake'], prompt: null },
  judge: { models: ['m@fake'] },
  experts: { general: { t1: ['m@fake'], prompt: 'Answer.' } },
  capabilities: [],
  classes: { expert: 'expert', judge: 'judge' },
  limits: { wall_time_s: 60, model_calls: 60, prompt_tokens: 80_000, tokens: 200_000, cost: null, concurrent_tasks: 8 },
  task_timeout_s: 20,
  start_timeout_s: 10,
  planning_timeout_s: 20,
  progress: 'reasoning',
  prices: {},
  contexts: {},
} satisfies Template;

const closers: (() => Promise<void>)[] = [];
beforeAll(() =>
  loadExtensions({ extensions: [join(workspaceRoot, 'tests/e2e/src/harness/stepping.mjs')], extension_timeout_s: 10, task_classes: {} }),
);
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** An embedded system whose run was accepted, while its request was never published: the gateway died between the two. */
async function accepted(runId: string) {
  const sqlite = openSqlite({ home: ':memory:', processId: 'test', durability: 'process' });
  closers.push(() => sqlite.close());
  const { log, state, stream, blobs, graph } = sqlite;
  const ports = { log, state, stream, blobs, graph, close: async () => undefined } as unknown as Ports;
  const observers = {
    logger: silentLogger,
    metrics: openMetrics(),
    probe: noProbe,
    readiness: openReadiness(),
  };
  const module = MergerModule.register({ storePrompts: 'full' });
  const served = await serve({ service: 'merger', module, ports, observers, process: { id: 'test', classes: ['judge'] } });
  closers.push(() => served.close());
  const at = Date.now();
  const caller = { tenant: 'default', actor: 'anonymous' };
  const asked = { goal: 'What is red?', conversation: [], system: null, template, limits: template.limits, caller, answer: {} };
  const header = makeEvent(PlanRequested, { id: runId, runId, source: 'gateway', time: at }, { ...asked, origin: 'runs', requestedAt: at });
  await sqlite.state.runs.accept({ header, retryKey: null, openLimit: 10 });
  return sqlite;
}

describe('a run that has not begun, in embedded mode', () => {
  it.each(commandNames)('begins when it gets %s, acknowledges it twice and continues as the matrix says', async (name) => {
    const cell = commandMatrix.accepted[name];
    if (cell.refused) throw new Error('A run that was accepted takes commands.');
    const runId = `run_early_${name}`;
    const sqlite = await accepted(runId);
    const issuedAt = Date.now();
    const at = { id: commandId(runId, 1), runId, source: 'gateway', time: issuedAt } as const;
    await sqlite.log.publish([makeEvent(CommandIssued, at, { seq: 1, actor: 'me', issuedAt, command: commands[name] })]);
    const run = await until('the command to be taken', async () => {
      const read = await sqlite.state.runs.read<RunState>(runId);
      return read && read.state.commands.length > 0 ? read.state : undefined;
    });
    expect(run.commands).toMatchObject([{ seq: 1, name, actor: 'me', status: cell.now, reason: cell.reason ?? null }]);
    expect(statusOf(run)).toBe(cell.status);
    const { entries } = await sqlite.stream.read(runId, 0, 100);
    expect(entries.map(({ kind }) => kind).filter((kind) => kind.startsWith('command.'))).toEqual([
      'command.accepted',
      `command.${cell.now!}`,
    ]);
  });
});
