import { describe, expect, it } from '@jest/globals';
import type { ClientToolsAsked, CommandIssued, GapDetected, TaskDispatched, Template } from '@conclave/contracts';
import { clientToolsRef, firstPlanAsked, statusOf } from '@conclave/loop';
import { describeRun } from './describe-run.js';
import { strategies, strategyOf } from './registry.js';
import { expert, oneCall, runId, Scenario } from './testing/scenario.js';

const called = (town: string, n: number): ClientToolsAsked['calls'][number] => ({
  ...{ id: `call_00000001_${n}`, name: 'get_weather' },
  call: { type: 'function', function: { name: 'get_weather', arguments: `{"town":"${town}"}` } },
});
const clientTools: ClientToolsAsked = { model: 'm@fake', usage: oneCall, said: null, calls: [called('Ulm', 0), called('Bonn', 1)] };
const results = (...texts: string[]): CommandIssued['data']['command'] => ({
  ...{ name: 'answer', text: 'Results of get_weather.' },
  results: texts.map((text, n) => ({ id: `call_00000001_${n}`, text })),
});

const withOptions = (strategy: string): Partial<Template> => ({
  strategy,
  options: strategyOf(strategy).options.parse({}) as Record<string, unknown>,
});

function waiting(changes: Partial<Template> = {}): Scenario {
  const run = new Scenario(changes);
  run.requested({}, { clientTools });
  return run;
}
const texts = (run: Scenario): readonly string[] => run.state!.memory.facts.map(({ text }) => text);
const rejected = (run: Scenario): readonly (string | null)[] => run.state!.commands.map(({ reason }) => reason);

describe('a run whose tool model has called tools of the client', () => {
  it('waits for the results: nothing is dispatched, the planner has nothing to do, its clock stops, and the question is counted', () => {
    const run = waiting();
    expect([statusOf(run.state!), run.types(), run.state!.since, run.state!.spent]).toEqual(['waiting', [], null, oneCall]);
    expect(firstPlanAsked(run.request({}, { clientTools }), run.strategies)).toBeNull();
    expect(run.decisions[0]!.entries.at(-1)).toMatchObject({
      kind: 'question.asked',
      question: 'The client has to call get_weather and to send the results.',
      calls: clientTools.calls.map(({ id, name }) => ({ id, name })),
    });
    const view = describeRun(run.state, run.strategies);
    expect(view.usage.items).toEqual([{ owner: clientToolsRef(runId), capability: 'tools', model: 'm@fake', usage: oneCall }]);
  });

  it('continues with them as evidence: the planner, the experts and the composer know them, and nothing is cached for other questions', () => {
    const run = waiting({ strategy: 'single-pass', max_agentic_rounds: 0 });
    run.now += 10 * 60_000;
    run.command(1, results('4 degrees', 'rain'));
    expect(texts(run)).toEqual(['get_weather({"town":"Ulm"}): 4 degrees', 'get_weather({"town":"Bonn"}): rain']);
    const [gap] = run.outputs as GapDetected[];
    expect([run.types(), gap!.data.first, gap!.data.memory.facts.length]).toEqual([['GapDetected'], true, 2]);
    const { epoch } = run.state!;
    run.planned(epoch, [expert('x1', 'Say it.'), expert('x2', 'Say it otherwise.')]);
    const inputs = () => (run.outputs as TaskDispatched[]).filter(({ type }) => type === 'TaskDispatched').map(({ data }) => data.input);
    expect(inputs()[0]).toMatchObject({ kind: 'expert', evidence: [{ text: texts(run)[1] }, { text: texts(run)[0] }] });
    run.answered('x1', 'It is cold.', 0.9);
    run.answered('x2', 'It is wet.', 0.9);
    const synthesis = inputs().find((input) => input.kind === 'synthesis');
    expect(synthesis).toMatchObject({ facts: [{ source: { kind: 'tool', title: 'get_weather', url: null } }, {}] });
    run.composed('Cold and wet.');
    expect(run.completed()).toMatchObject({
      ...{ answer: 'Cold and wet.', outcome: 'completed', evidence: [], caching: null, insight: null },
      learning: { graph: 'off' },
    });
    // Neither the wait nor the call before it is lost: ten minutes of waiting cost no wall time.
    expect(run.state!.spent.calls).toBe(oneCall.calls * 5);
  });

  it.each(strategies().map(({ id }) => id))('begins nothing before the results: %s', (strategy) => {
    const run = waiting(withOptions(strategy));
    expect(run.types()).toEqual([]);
    run.command(1, results('4 degrees', 'rain'));
    expect(statusOf(run.state!)).not.toBe('waiting');
    expect(run.types().length).toBeGreaterThan(0);
    expect(texts(run)).toHaveLength(2);
  });

  it('says if a call has no result, and cuts a long one into pieces that a prompt shows', () => {
    const run = waiting();
    run.command(1, results('word '.repeat(400)));
    const [first, second, third, last] = texts(run);
    for (const piece of [first, second, third]) expect(piece!.length).toBeLessThan(900);
    expect([first!.startsWith('get_weather({"town":"Ulm"}), part 1 of 3: word'), last]).toEqual([
      true,
      'get_weather({"town":"Bonn"}): no result',
    ]);
  });

  it('accepts no text in their place, and accepts them once', () => {
    const run = waiting(withOptions('reasoning'));
    run.command(1, { name: 'answer', text: 'It is cold.' });
    expect(statusOf(run.state!)).toBe('waiting');
    run.command(2, results('4 degrees', 'rain'));
    run.command(3, results('5 degrees', 'snow'));
    expect(rejected(run)).toEqual([
      'The run waits for results of the tools of its client, not for a text.',
      null,
      'The run waits for no results of tools.',
    ]);
    expect(texts(run)).toHaveLength(2);
  });

  it('ends if they do not arrive in time', () => {
    const run = waiting({ answer_timeout_s: 700 });
    const began = run.now;
    run.fired();
    expect([run.now - began, run.completed()]).toEqual([
      700_000,
      expect.objectContaining({ reason: expect.stringContaining('The client did not send the results of its tools in time.') }),
    ]);
  });

  it('can be cancelled while it waits', () => {
    const run = waiting();
    run.cancel();
    expect(run.completed()).toMatchObject({ outcome: 'cancelled' });
  });
});

describe('a run whose tool model has called none', () => {
  it('begins at once, and counts the call to the tool model', () => {
    const run = new Scenario();
    run.requested({}, { clientTools: { ...clientTools, calls: [] } });
    expect([statusOf(run.state!), run.state!.spent]).toEqual(['planning', oneCall]);
    expect(firstPlanAsked(run.request({}, { clientTools: { ...clientTools, calls: [] } }), strategyOf)).not.toBeNull();
  });
});
