import { describe, expect, it } from '@jest/globals';
import { type Caller, childRunId, Failure } from '@conclave/contracts';
import { answersPurpose, type EventLog, factsPurpose, type KnowledgeGraph, MemoryStores, MemoryVectorStore } from '@conclave/ports';
import { acceptance, counting, ending, nthInput } from '@conclave/ports/suites';
import { runTag } from '@conclave/strategies';
import type { GatewayOptions } from '../options.js';
import { Erasure } from './erasure.js';
import type { ForkLinks } from './fork-links.js';
import type { RunDirectory } from './run-directory.js';

const caller: Caller = { tenant: 'acme', actor: 'key_a' };
const parent = 'run_withchildren1';
const task = `${parent}/0/t1`;
const child = childRunId(task);

/** As much of a run's state as the deletion looks at. */
interface Kept {
  readonly tasks: readonly { readonly id: string; readonly capability: string }[];
}

/** An ended run with one child run, both of which have left something for later questions. */
async function world() {
  const { state } = new MemoryStores().connect('gateway');
  const vectors = new MemoryVectorStore().connect();
  const answers = { tenant: caller.tenant, collection: `${answersPurpose}@e` };
  const facts = { tenant: caller.tenant, collection: `${factsPurpose}@e` };
  for (const scope of [answers, facts]) await vectors.create(scope, 2);
  for (const runId of [parent, child]) {
    await state.runs.accept(acceptance(runId));
    const tasks = runId === parent ? [{ id: task, capability: 'run' }] : [];
    await state.runs.commit<Kept>(nthInput(runId, 1), (_, at) => ({ ...counting(nthInput(runId, 1), ending)(null, at)!, next: { tasks } }));
    await state.caches.write({ tenant: caller.tenant, key: `plan of ${runId}`, value: 1, ttlMs: 60_000, tags: [runTag(runId)] });
    await vectors.upsert(answers, [{ id: runId, vector: Float32Array.of(1, 0), text: 'Which canary?', metadata: {} }]);
    await vectors.upsert(facts, [{ id: `${runId}/1`, vector: Float32Array.of(1, 0), text: 'It sings.', metadata: { run: runId } }]);
  }
  /** Runs that the graph forgot, and whether their tombstone had been written by then. */
  const forgotten: (readonly [string, boolean])[] = [];
  let failures = 0;
  const graph = {
    forget: async ({ runId }: { readonly runId: string }) => {
      if (failures > 0) {
        failures -= 1;
        throw new Failure('STORE_UNAVAILABLE');
      }
      forgotten.push([runId, (await state.runs.erased(runId)) !== null]);
    },
  } as unknown as KnowledgeGraph;
  const options = {
    ...{ vectors, graph, logger: { info: () => undefined } },
    describeRun: ({ tasks }: Kept) => ({ rounds: [{ tasks }] }),
  } as unknown as GatewayOptions;
  const runs = {
    erased: (id: string) => state.runs.erased(id),
    header: (id: string) => state.runs.header(id),
  } as unknown as RunDirectory;
  const log = { publish: () => Promise.resolve(), erase: () => Promise.resolve('gone') } as unknown as EventLog;
  const erasure = new Erasure(options, state, log, runs, { close: () => Promise.resolve([]) } as unknown as ForkLinks);
  return {
    ...{ erasure, forgotten, caches: state.caches },
    graphFails: (times: number) => void (failures = times),
    vectorsLeft: async () => (await vectors.count(answers)) + (await vectors.count(facts)),
  };
}

describe('deleting a run with child runs', () => {
  it('removes what each child run left for later questions, and prevents it from being stored again', async () => {
    const { erasure, caches, vectorsLeft } = await world();
    await erasure.erase(parent, caller);
    for (const runId of [parent, child]) {
      const key = `plan of ${runId}`;
      expect(await caches.read(caller.tenant, key)).toBeNull();
      expect(await caches.write({ tenant: caller.tenant, key, value: 1, ttlMs: 60_000, tags: [runTag(runId)] })).toBe(false);
    }
    expect(await vectorsLeft()).toBe(0);
  });

  it('has the graph forget each of them after its tombstone, for which whoever still learns from it looks last', async () => {
    const { erasure, forgotten } = await world();
    await erasure.erase(parent, caller);
    expect(forgotten).toEqual([
      [child, true],
      [parent, true],
    ]);
  });

  it('is completed by a repeat when it failed at a child run', async () => {
    const { erasure, forgotten, vectorsLeft, graphFails } = await world();
    graphFails(1);
    await expect(erasure.erase(parent, caller)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await erasure.erase(parent, caller);
    expect(forgotten.map(([runId]) => runId)).toEqual([child, parent]);
    expect(await vectorsLeft()).toBe(0);
  });
});
