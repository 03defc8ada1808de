import { makeEvent, noUsage, RunCompleted } from '@conclave/contracts';
import { MemoryStores, type StateStore } from '@conclave/ports';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../logging/logger.js';
import { ForgottenRuns, forgetsAtEnd } from './ended-reads.js';

const ended = (runId: string, deliver: RunCompleted['data']['deliver'] = []): RunCompleted =>
  makeEvent(
    RunCompleted,
    { id: `${runId}/completed`, runId, source: 'merger', time: 5 },
    {
      ...{ outcome: 'completed', rule: 'D3', reason: '', reasonCode: 'sufficient', question: 'Who?', answer: 'Nobody.', cutShort: false },
      ...{ sources: [], insight: null, history: [], rounds: 1, usage: noUsage, failure: null, startedAt: 1, completedAt: 5, deliver },
      ...{ caller: { tenant: 'acme', actor: 'me' }, template: { id: 'conclave', version: 'v1', strategy: 'agentic' } },
    },
  );

describe('the key of a run under store_prompts: none', () => {
  let state: StateStore;
  let erased: string[];
  let reads: ForgottenRuns;
  beforeEach(() => {
    state = new MemoryStores().connect('merger').state;
    erased = [];
    reads = new ForgottenRuns(state, { erase: async (id) => (erased.push(id), 'gone') }, silentLogger);
  });

  it('is destroyed when the last of those who read its end has done so, and not before', async () => {
    const one = ended('run_00000001');
    await reads.done(one, 'graph-ingest');
    await reads.done(one, 'graph-ingest');
    expect(erased).toEqual([]);
    await reads.done(one, 'learning');
    expect(erased).toEqual(['run_00000001']);
  });

  it('waits for a webhook that the run asks for, and for no other', async () => {
    const [told, untold] = [ended('run_00000001', [{ webhook: 'ops' }]), ended('run_00000002')];
    for (const run of [told, untold]) for (const by of ['learning', 'graph-ingest'] as const) await reads.done(run, by);
    expect(erased).toEqual(['run_00000002']);
    await reads.done(told, 'webhooks');
    expect(erased).toEqual(['run_00000002', 'run_00000001']);
  });

  it('stays while a run with child runs continues', async () => {
    for (const by of ['learning', 'graph-ingest'] as const) await reads.done(ended('run_00000001~0.t1'), by);
    expect(erased).toEqual([]);
  });

  it('is destroyed by a later delivery if the log did not answer', async () => {
    const failing = new ForgottenRuns(state, { erase: () => Promise.reject(new Error('away')) }, silentLogger);
    await reads.done(ended('run_00000001'), 'learning');
    await expect(failing.done(ended('run_00000001'), 'graph-ingest')).rejects.toThrow('away');
    await reads.done(ended('run_00000001'), 'graph-ingest');
    expect(erased).toEqual(['run_00000001']);
  });

  it.each([
    ['none', 'key', true],
    ['none', undefined, false],
    ['hash', 'key', false],
    ['full', 'key', false],
  ] as const)('with store_prompts: %s and the key %s: %s', (store_prompts, key, forgets) => {
    expect(forgetsAtEnd({ configuration: { store_prompts }, environment: { CONCLAVE_SEAL_KEY: key } } as never)).toBe(forgets);
  });
});
