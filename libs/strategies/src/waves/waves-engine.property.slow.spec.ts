import { describe, expect, it } from '@jest/globals';
import type { Event, GapDetected, PlannedTask, TaskDispatched } from '@conclave/contracts';
import { canonicalJson } from '@conclave/loop';
import fc from 'fast-check';
import { drawnLimits, endFaults, play, type Draw, type Drawn } from '../testing/drawn-run.js';
import { oneCall, Scenario } from '../testing/scenario.js';

const tools = [
  { name: 'stock.count', description: 'Counts', signature: 'item: string', repeatable: true },
  { name: 'stock.order', description: 'Orders', signature: 'item: string', repeatable: false },
];
const isOffered = (tool: string | undefined): boolean => tools.some(({ name }) => name === tool);

const call = (id: string, tool: string, item: number, needs: string[]): PlannedTask => ({
  ...{ id, capability: 'mcp', task: `Call ${tool}`, query: null, needs, tool, args: { item }, metadata_filters: null },
});

/**
 * A wave as a model may plan it: done or not, with or without calls; ids and needs that are valid, of the same wave, of no wave or
 * already used; offered or unknown tools; sometimes without saying whether it is done.
 */
function plans(run: Scenario, epoch: number, draw: Draw): (() => unknown)[] {
  if (draw(9) === 0) return draw(2) === 0 ? [] : [() => run.planFailed(epoch)];
  const earlier = epoch === 0 ? [] : [`c${epoch - 1}`];
  const tasks = Array.from({ length: draw(6) === 0 ? 0 : 1 + draw(3) }, (_, n) => {
    const id = n === 0 ? (draw(20) === 0 ? `c${draw(epoch + 1)}` : `c${epoch}`) : draw(20) === 0 ? `c${epoch}` : `c${epoch}.${n}`;
    const needs = draw(3) > 0 ? earlier : draw(12) === 0 ? ['nowhere'] : draw(12) === 0 ? [`c${epoch}`] : [];
    return call(id, ['stock.count', 'stock.order', 'stock.count', 'stock.gone'][draw(4)]!, draw(4), needs);
  });
  const content = { status: draw(6) === 0 ? 'done' : 'continue', action: draw(5) === 0 ? '' : `wave ${epoch}`, slots: {}, reasoning: '' };
  return [() => run.planned(epoch, tasks, oneCall, draw(20) === 0 ? {} : { content })];
}

function replies(run: Scenario, event: Event, draw: Draw): (() => unknown)[] {
  if (event.type === 'GapDetected') return plans(run, (event.data as { epoch: number }).epoch + 1, draw);
  if (event.type !== 'TaskDispatched') return [];
  const { input } = event.data as TaskDispatched['data'];
  const [, epoch, local] = event.id.split('/') as [string, string, string];
  const result = (data: Parameters<Scenario['result']>[1]) => () => run.result(local, data, Number(epoch));
  const failure = (code: 'TOOL_FAILED' | 'CALL_TIMEOUT' | 'TOOL_UNKNOWN') => ({ code, message: code, retriable: code !== 'TOOL_UNKNOWN' });
  if (input.kind === 'mcp' && input.refused)
    return [result({ status: 'error', usage: { ...oneCall, calls: 0 }, failure: failure('TOOL_UNKNOWN') })];
  const kind = draw(6);
  if (kind === 0) return [];
  if (kind === 1) return [result({ status: 'error', failure: failure('TOOL_FAILED') })];
  if (kind === 2) return [result({ status: 'timeout', failure: failure('CALL_TIMEOUT') })];
  if (input.kind === 'synthesis')
    return [result({ output: { kind: 'synthesis', text: 'So it is.', insight: null, insightRejected: null, cutShort: false } })];
  const source = { kind: 'corpus' as const, title: 'stock', url: null };
  const fact = { text: `fact ${event.id}`, source, taskId: event.id, epoch: Number(epoch), confidence: null };
  return [result({ usage: { ...oneCall, calls: 0 }, output: { kind: 'evidence', facts: kind === 3 ? [] : [fact] } })];
}

const drawnWaves: Drawn = {
  begin: (draw) => {
    const options = { max_waves: 1 + draw(5) };
    return { run: new Scenario({ strategy: 'waves', tools, ...(draw(2) === 0 ? { options } : {}) }), limits: drawnLimits(draw) };
  },
  plans,
  replies,
};

const calls = (run: Scenario): readonly TaskDispatched[] =>
  run.outputs.filter(
    (event): event is TaskDispatched => event.type === 'TaskDispatched' && (event as TaskDispatched).data.input.kind === 'mcp',
  );

/** Violations of the rules of waves by a run. */
function waveFaultsOf(run: Scenario): readonly string[] {
  const inputs = calls(run).map(({ id, data }) => ({ id, input: data.input as { tool: string; args: object; refused?: string } }));
  const orders = inputs.filter(({ input }) => input.tool === 'stock.order').map(({ input }) => canonicalJson(input.args));
  const locals = inputs.map(({ id }) => id.split('/')[2]!);
  const most = (run.state!.request.template.options as { max_waves?: number } | undefined)?.max_waves ?? 5;
  const asked = 1 + run.outputs.filter((event) => event.type === 'GapDetected' && !(event as GapDetected).data.first).length;
  return [
    ...inputs.filter(({ input }) => !isOffered(input.tool) && !input.refused).map(({ id }) => `${id} calls what is not offered`),
    ...orders.filter((args, index) => orders.indexOf(args) !== index).map((args) => `the order ${args} went out twice`),
    ...locals.filter((id, index) => locals.indexOf(id) !== index).map((id) => `${id} names two calls`),
    ...(asked > most ? [`${asked} waves of ${most} were asked for`] : []),
  ];
}

describe('waves under any order of events', () => {
  it('end exactly once with nothing open; no id and no order is sent twice, and no wave is requested above the limit', () => {
    const seen = { runs: 0, answered: 0, calls: 0, refused: 0, waves: 0 };
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 5, maxLength: 120 }), (draws) => {
        const run = play(draws, drawnWaves);
        expect([...endFaults(run), ...waveFaultsOf(run)]).toEqual([]);
        seen.runs += 1;
        if (run.completed()!['answer'] !== null) seen.answered += 1;
        seen.calls += calls(run).length;
        seen.waves += run.outputs.filter(({ type }) => type === 'GapDetected').length;
        seen.refused += run.facts.filter(({ kind }) => kind === 'PlanRefused').length;
      }),
      { numRuns: 400 },
    );
    // Runs in which nothing happens would keep every rule, so enough must answer. `npm run fuzz` may have time for too few to judge.
    const expected =
      seen.runs < 400 ? { answered: 0, calls: 0, waves: 0, refused: 0 } : { answered: 101, calls: 201, waves: 61, refused: 21 };
    for (const name of ['answered', 'calls', 'waves', 'refused'] as const)
      expect([name, seen[name] >= expected[name]]).toEqual([name, true]);
  });
});
