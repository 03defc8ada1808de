import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { RunView } from '@conclave/contracts';
import type { ScriptedReply } from '@conclave/test-support';
import { allMetrics, plainTemplate, runEnd, runEvents, startRun, sumOf, System } from '@conclave/test-support/system';
import { faults, hostileReply } from './harness/hostile-replies.js';
import { mcpServer } from './harness/mcp-server.js';
import { StoppableServer, type Served } from './harness/stoppable-server.js';

// Tests wait for their trials, and those of the last rows begin when all others have ended.
jest.setTimeout(400_000);

// Whatever models, tools and the search reply, a run ends within its budget, with an answer or as failed, and says why.
const calls = 24;
const base = {
  ...{ ...plainTemplate, learn: 'off', task_timeout_s: 5 },
  ...{ limits: { model_calls: calls, wall_time_s: 20 }, policies: { '*': { breaker: { failures: 100 } } } },
} as const;
const strategies: Readonly<Record<string, object>> = {
  committee: { ...base, strategy: 'single-pass' },
  loop: { ...base, strategy: 'agentic', max_agentic_rounds: 3, gap_check: 'evidence', critic: ['general'], refine_rounds: 1 },
  waves: { ...base, strategy: 'waves', capabilities: ['mcp'] },
  reasoning: { ...base, strategy: 'reasoning' },
  reflective: { ...base, strategy: 'reflective-rag' },
  decompose: { ...base, strategy: 'decompose' },
  children: { ...base, strategy: 'decompose', options: { child: 'committee' } },
  adaptive: { ...base, strategy: 'adaptive', max_agentic_rounds: 2 },
};
const budgets: Readonly<Record<string, object>> = {
  'one call': { model_calls: 1 },
  'two calls': { model_calls: 2 },
  'three calls': { model_calls: 3 },
  'the fewest tokens': { prompt_tokens: 1_000, tokens: 1_000 },
  'one second': { wall_time_s: 1 },
};
/** Faults of the models beside a budget: re-asks must not take the calls that the answer needs. */
const faultsBeside: Readonly<Record<string, string>> = { 'three calls': 'a planner that says no' };
/** Rows in which no call of a run gets a reply that can be used, or none in time. */
const deafRows: readonly string[] = [
  ...['streams that end in the middle', 'connections that break', 'refusals by the server'],
  ...['streams of nothing', 'empty replies', 'one second'],
];
const templateOf = (strategy: string, budget: string): string => `${strategy}-${budget.replaceAll(' ', '-')}`;

interface Trial {
  readonly name: string;
  readonly template: string;
  readonly ended: Promise<{ run: RunView; served: number; streamed: number }>;
}

let system: System;
let search: StoppableServer;
let world: StoppableServer;
const trials = new Map<string, Trial>();

beforeAll(async () => {
  const samePage = (): Served => ({
    body: { results: [{ url: 'http://same.example/page', title: 'The page', content: 'The founder is Ada.' }] },
  });
  search = await StoppableServer.start(({ path }) => (path.startsWith('/search') ? samePage() : { status: 404, body: 'nothing' }));
  world = await mcpServer('world', {
    look: { description: 'Looks around.', properties: { at: { type: 'string' } }, readOnly: true, run: () => ({ seen: 'the same' }) },
  });
  const limited = Object.entries(strategies).flatMap(([name, template]) =>
    Object.entries(budgets).map(([budget, limits]) => [templateOf(name, budget), { ...template, limits: { ...base.limits, ...limits } }]),
  );
  system = await System.start({
    configuration: {
      templates: { ...strategies, ...Object.fromEntries(limited) },
      search: { searxng: search.url, read_pages: 0 },
      mcp: { precision: { enabled: false }, world: { url: `${world.url}/mcp` } },
    },
  });
  begin();
});
afterAll(async () => {
  await system?.stop();
  await Promise.all([search?.stop(), world?.stop()]);
});

const callsOf = (mark: string): number =>
  system.models.calls.filter(({ messages }) => messages.some(({ content }) => String(content).includes(mark))).length;

/** Tasks contain the mark of their trial, so that the calls of child runs count for it too. */
const marked = (reply: ScriptedReply, mark: string): ScriptedReply =>
  JSON.parse(JSON.stringify(reply).replaceAll('the founder', `the founder ${mark}`)) as ScriptedReply;

/** All trials run in parallel, a few at a time; each test waits for its own. */
function begin(): void {
  const lanes = Array.from({ length: 8 }, () => Promise.resolve());
  const add = (name: string, template: string, fault: string | null, hang = false): void => {
    const mark = `[trial ${trials.size}]`;
    let n = 0;
    system.models.add({
      name,
      match: mark,
      times: Infinity,
      reply: (request) => (hang ? { hang: true } : marked(hostileReply(fault === null ? null : faults[fault]!, request, (n += 1)), mark)),
    });
    const lane = trials.size % lanes.length;
    const ended = lanes[lane]!.then(async () => {
      const { status, body } = await startRun(system.url(), {
        model: template,
        input: `${mark} Who founded the company, and where was she born?`,
      });
      if (status !== 202) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
      const run = await runEnd(system.url(), body.id, 120_000);
      const entries = await runEvents(system.url(), body.id);
      return { run, served: callsOf(mark), streamed: JSON.stringify(entries).length };
    });
    lanes[lane] = ended.then(
      () => undefined,
      () => undefined,
    );
    trials.set(name, { name, template, ended });
  };
  const addRow = (strategy: string, row: string): void =>
    row in faults
      ? add(`${strategy}: ${row}`, strategy, row)
      : add(`${strategy}: ${row}`, templateOf(strategy, row), faultsBeside[row] ?? null, row === 'one second');
  const all = Object.keys(strategies).flatMap((strategy) =>
    [...Object.keys(faults), ...Object.keys(budgets)].map((row) => ({ strategy, row })),
  );
  // These open the circuit breaker of the model server, which gives no other run an answer either: they come last.
  const isDeaf = ({ row }: { readonly row: string }): boolean => deafRows.includes(row);
  for (const { strategy, row } of all.filter((trial) => !isDeaf(trial))) addRow(strategy, row);
  const others = Promise.all(lanes).then(() => undefined);
  for (const lane of lanes.keys()) lanes[lane] = others;
  for (const { strategy, row } of all.filter(isDeaf)) addRow(strategy, row);
}

describe.each(Object.keys(strategies))('%s', (strategy) => {
  it.each([...Object.keys(faults), ...Object.keys(budgets)])('ends well with %s', async (row) => {
    const { run, served, streamed } = await trials.get(`${strategy}: ${row}`)!.ended;
    expect(served).toBeLessThanOrEqual(run.limits.model_calls);
    expect(['completed', 'limit_reached', 'stuck', 'stalled', 'failed']).toContain(run.outcome);
    if (run.outcome === 'failed') expect([run.answer, run.failure]).toEqual([null, expect.anything()]);
    else expect(run.answer?.trim()).toBeTruthy();
    expect(run.rule).toMatch(/^(D[1-9]|D1[01])$/);
    // A reason ends with a sentence of ours, or with the words of the model server.
    expect(run.reason).toMatch(/^[A-Z0-9"][^]*(?:[.!?)]|It says: no)$/);
    expect(run.reason).not.toMatch(/undefined|NaN|\[object|TypeError|\bat \w+ \(/);
    // A plan of 500 tasks, or of megabytes, leaves no more data behind than any other.
    expect([streamed < 200_000, JSON.stringify(run).length < 200_000]).toEqual([true, true]);
    // While a model replies and the budget has a call left, somebody gets an answer.
    if (run.outcome === 'failed' && !deafRows.includes(row)) expect(run.reason).toContain('used up');
    // Nobody pays for a plan that leaves no call for the answer.
    if (['one call', 'two calls'].includes(row)) {
      expect([run.outcome, run.rule]).toEqual(['limit_reached', 'D2']);
      expect(run.reason).toMatch(/no model call for|used up/);
      const isOneExpert = ['committee', 'loop', 'adaptive'].includes(strategy);
      if (isOneExpert || row === 'one call') expect(served).toBe(1);
    }
    if (row === 'three calls')
      expect([run.answer?.trim(), run.outcome]).toEqual([expect.stringMatching(/./), expect.not.stringMatching('failed')]);
    if (row === 'one second') expect(Number(run.completedAt) - Number(run.acceptedAt)).toBeLessThan(10_000);
  });
});

describe('the program behind them', () => {
  it('stays alive, has no dead letter and no unscripted call', async () => {
    await Promise.all([...trials.values()].map(({ ended }) => ended));
    expect((await fetch(`${system.url()}/health/ready`)).status).toBe(200);
    expect(sumOf(await allMetrics(system), 'conclave_dead_letters_total')).toBe(0);
    expect(system.models.violations()).toEqual([]);
    expect(system.output()).not.toMatch(/uncaught|unhandled|TypeError|RangeError/i);
  });
});
