import { describe, expect, it } from '@jest/globals';
import type { Event, TaskDispatched } from '@conclave/contracts';
import fc from 'fast-check';
import { drawnLimits, endFaults, play, type Draw, type Drawn } from '../testing/drawn-run.js';
import { oneCall, Scenario } from '../testing/scenario.js';
import { topicTask } from './topics.js';

/** A plan as a model may give it: none, too many sub-topics, equal ones, ids used twice, needs, another capability, no synthesis. */
function plans(run: Scenario, epoch: number, draw: Draw): (() => unknown)[] {
  if (draw(9) === 0) return draw(2) === 0 ? [] : [() => run.planFailed(epoch)];
  const count = draw(12) === 0 ? draw(8) : 1 + draw(4);
  const tasks = Array.from({ length: count }, (_, n) => {
    const task = topicTask(draw(25) === 0 ? 1 : n + 1, `part ${n}`, `query ${draw(6)}`, draw(3) === 0 ? ['law'] : []);
    return { ...task, ...(draw(25) === 0 ? { needs: ['t1'] } : {}), ...(draw(25) === 0 ? { capability: 'mcp' } : {}) };
  });
  const content = { synthesis: ['merge', 'compare', 'rank'][draw(3)] };
  return [() => run.planned(epoch, tasks, oneCall, draw(20) === 0 ? {} : { content })];
}

function replies(run: Scenario, event: Event, draw: Draw): (() => unknown)[] {
  if (event.type !== 'TaskDispatched') return [];
  const { input } = event.data as TaskDispatched['data'];
  const [, epoch, local] = event.id.split('/') as [string, string, string];
  const result = (data: Parameters<Scenario['result']>[1]) => () => run.result(local, data, Number(epoch));
  const failure = { code: 'SEARCH_UNAVAILABLE', message: 'gone', retriable: true };
  const kind = draw(7);
  if (kind === 0) return [];
  if (kind === 1) return [result({ status: 'error', failure })];
  if (kind === 2) return [result({ status: 'timeout', failure })];
  if (input.kind === 'synthesis')
    return [result({ output: { kind: 'synthesis', text: 'So it is.', insight: null, insightRejected: null, cutShort: false } })];
  const fact = (n: number) => ({
    text: `fact ${draw(9)}`,
    source: { kind: 'corpus' as const, title: `doc ${n}`, url: null },
    taskId: event.id,
    epoch: Number(epoch),
    confidence: null,
  });
  return [result({ output: { kind: 'evidence', facts: kind === 3 ? [] : [fact(draw(3)), fact(draw(3))] } })];
}

const drawnTopics: Drawn = {
  begin: (draw) => {
    const options = { max_topics: 1 + draw(4) };
    const collections = [{ name: 'law', description: '' }];
    return { run: new Scenario({ strategy: 'decompose', collections, ...(draw(2) === 0 ? { options } : {}) }), limits: drawnLimits(draw) };
  },
  plans,
  replies,
};

const researched = (run: Scenario): readonly TaskDispatched[] =>
  run.outputs.filter(
    (event): event is TaskDispatched => event.type === 'TaskDispatched' && (event as TaskDispatched).data.input.kind === 'subtopic',
  );

/** Violations of the rules of decompose by a run. */
function topicFaultsOf(run: Scenario): readonly string[] {
  const most = (run.state!.request.template.options as { max_topics?: number } | undefined)?.max_topics ?? 4;
  const asked = researched(run).map(({ data }) => data.input as { query: string; collections: readonly string[] });
  const queries = asked.map(({ query, collections }) => `${query} ${collections.join()}`);
  const topics = run.state!.tasks;
  const failed = Object.values(topics).some(({ spec, result }) => spec.capability === 'subtopic' && result?.status === 'error');
  const written = run.outputs.find(
    (event): event is TaskDispatched => event.type === 'TaskDispatched' && (event as TaskDispatched).data.input.kind === 'synthesis',
  );
  const told = written ? (written.data.input as { topics: { failed: readonly unknown[] } }).topics.failed.length > 0 : failed;
  return [
    ...(asked.length > most ? [`${asked.length} sub-topics of ${most} were researched`] : []),
    // An equal sub-topic is researched again once, if the first one failed.
    ...queries
      .filter((query, index) => queries.indexOf(query) < index && queries.lastIndexOf(query) > index)
      .map((query) => `${query} was researched three times`),
    ...(run.state!.rounds > 1 ? ['it had more than one round'] : []),
    ...(failed && !told ? ['the composer was not told of a failed sub-topic'] : []),
  ];
}

describe('decompose under any order of events', () => {
  it('ends exactly once with nothing open, within its sub-topics, none of them twice, and with failures distinguished', () => {
    const seen = { runs: 0, answered: 0, researched: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 5, maxLength: 120 }), (draws) => {
        const run = play(draws, drawnTopics);
        expect([...endFaults(run), ...topicFaultsOf(run)]).toEqual([]);
        seen.runs += 1;
        if (run.completed()!['answer'] !== null) seen.answered += 1;
        seen.researched += researched(run).length;
        seen.refused += run.facts.filter(({ kind }) => kind === 'PlanRefused').length;
      }),
      { numRuns: 400 },
    );
    // Runs in which nothing happens would keep every rule, so enough must answer. `npm run fuzz` may have time for too few to judge.
    const expected = seen.runs < 400 ? { answered: 0, researched: 0, refused: 0 } : { answered: 101, researched: 301, refused: 21 };
    for (const name of ['answered', 'researched', 'refused'] as const) expect([name, seen[name] >= expected[name]]).toEqual([name, true]);
  });
});
