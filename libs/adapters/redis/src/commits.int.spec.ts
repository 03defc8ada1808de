import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { counting, namedOutput, newRunId, nthInput, type Tally } from '@conclave/ports/suites';
import { Redis } from 'ioredis';
import { newPrefix, startPrivateRedis, type PrivateRedis } from './__fixtures__/redis-server.js';
import { openRedisState, type RedisState } from './open.js';

// Real servers on a busy machine.
jest.setTimeout(30_000);

describe('A step of a run whose last step was written here', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let here: RedisState;
  let there: RedisState;
  let runId: string;
  beforeAll(async () => {
    server = await startPrivateRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.dispose();
  });
  beforeEach(async () => {
    const keyPrefix = newPrefix();
    [here, there] = await Promise.all(
      ['here', 'there'].map((processId) => openRedisState({ url: server.url, processId, keyPrefix })) as [
        Promise<RedisState>,
        Promise<RedisState>,
      ],
    );
    await here.store.now();
    runId = newRunId();
    await commit(here, 1);
  });
  afterEach(() => Promise.all([here.close(), there.close()]));

  const commit = ({ store }: RedisState, n: number) =>
    store.runs.commit<Tally>(nthInput(runId, n), counting(nthInput(runId, n), { outputs: [namedOutput(runId, `o${n}`)] }));
  const scripts = async (): Promise<number> => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);

  it('takes one command', async () => {
    await commit(here, 2);
    const before = await scripts();
    await commit(here, 3);
    expect((await scripts()) - before).toBe(1);
    expect(await here.store.runs.read(runId)).toMatchObject({ version: 3, state: { count: 3 } });
  });

  it('is computed again when another process has written since, and returns the stored outputs for an event that was already applied', async () => {
    await commit(there, 2);
    expect(await commit(here, 3)).toMatchObject({ repeated: false, state: { count: 3 } });
    await commit(there, 4);
    expect(await commit(here, 4)).toMatchObject({ repeated: true, outputs: [namedOutput(runId, 'o4')], state: { count: 4 } });
    expect(await commit(here, 5)).toMatchObject({ state: { count: 5 } });
  });

  it('is computed again on the stored state when it returned null or threw on an older state', async () => {
    await commit(there, 2);
    const careful = (n: number, unless: (count: number) => null) =>
      here.store.runs.commit<Tally>(nthInput(runId, n), (current, at) =>
        current!.count < n - 1 ? unless(current!.count) : counting(nthInput(runId, n))(current, at),
      );
    expect(await careful(3, () => null)).toMatchObject({ state: { count: 3 } });
    await commit(there, 4);
    const refuse = (count: number): never => {
      throw new Error(`${count} are too few`);
    };
    expect(await careful(5, refuse)).toMatchObject({ state: { count: 5 } });
    await expect(careful(7, refuse)).rejects.toThrow('5 are too few');
    expect(await careful(7, () => null)).toMatchObject({ state: null, outputs: [] });
  });
});
