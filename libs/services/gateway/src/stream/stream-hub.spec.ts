import { describe, expect, it } from '@jest/globals';
import { Failure, type StreamEntry } from '@conclave/contracts';
import { silentLogger } from '@conclave/platform';
import { MemoryStores } from '@conclave/ports';
import { acceptance, counting, ending, nthInput } from '@conclave/ports/suites';
import { until } from '@conclave/test-support';
import { defaultLimits, type GatewayOptions } from '../options.js';
import { StreamHub } from './stream-hub.js';

const runId = 'run_followed1';

describe('a viewer', () => {
  it.each([0, 1])('that has %p entries is told that the run was deleted, instead of waiting without end', async (cursor) => {
    const { state, stream } = new MemoryStores().connect('gateway');
    await state.runs.accept(acceptance(runId));
    await state.runs.commit(nthInput(runId, 1), counting(nthInput(runId, 1), ending));
    const hub = new StreamHub({ logger: silentLogger } as unknown as GatewayOptions, { ...defaultLimits, pollMs: 5 }, state, stream);
    await hub.onModuleInit();
    // The end was written, and the run was deleted before this gateway read it.
    await state.runs.erase({ runId, tenant: 'acme', requestedAt: 1 });
    const told: unknown[] = [];
    const taken: StreamEntry[] = [];
    const viewer = {
      cursor,
      ready: () => true,
      take: (entries: readonly StreamEntry[]) => void taken.push(...entries),
      lost: () => undefined,
      failed: (error: unknown) => void told.push(error),
    };
    const following = hub.follow(runId, viewer, true);
    await until('the viewer to be told', () => told.length > 0, { timeoutMs: 5_000, everyMs: 5 });
    expect(told).toEqual([new Failure('RUN_ERASED')]);
    expect(taken).toEqual([]);
    following.stop();
    expect(hub.following).toBe(0);
    await hub.close();
  });
});
