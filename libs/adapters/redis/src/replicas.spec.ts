import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { Replicas } from './replicas.js';

type Reply = [Error | null, unknown];
const acknowledged = (replicas: number): Reply[] => [
  [null, 1],
  [null, replicas],
];
const moved: Reply[] = [
  [new Error('MOVED 866 127.0.0.1:7001'), null],
  [null, 1],
];

/** A server that answers each pair of commands when the test says so. */
function server({ nodes = false } = {}) {
  const asked: { readonly key: string; answer(replies: Reply[]): void }[] = [];
  const redirected: string[] = [];
  const pipeline = () => {
    let key = '';
    const pair = {
      exists: (given: string) => ((key = given), pair),
      wait: () => pair,
      exec: () => new Promise<Reply[]>((answer) => asked.push({ key, answer })),
    };
    return pair;
  };
  const exists = async (key: string): Promise<number> => redirected.push(key);
  return { asked, redirected, redis: { pipeline, exists, ...(nodes ? { nodes: () => [] } : {}) } as unknown as Redis };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the replicas that must have a write', () => {
  it('are waited for once for all writes that arrive meanwhile, and again for those that arrive after the request', async () => {
    const { redis, asked } = server();
    const replicas = new Replicas(redis, 1);
    const [first, second, third] = ['a', 'b', 'c'].map((key) => replicas.have(key));
    expect(asked).toHaveLength(1);
    asked[0]!.answer(acknowledged(1));
    await first;
    await settled();
    expect(asked).toHaveLength(2);
    asked[1]!.answer(acknowledged(0));
    for (const one of [second, third]) await expect(one).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const later = replicas.have('d');
    expect(asked).toHaveLength(3);
    asked[2]!.answer(acknowledged(2));
    await expect(later).resolves.toBeUndefined();
  });

  it("are those of the key's node in a cluster, even after the node gave the key away", async () => {
    const { redis, asked, redirected } = server({ nodes: true });
    const replicas = new Replicas(redis, 1);
    const [one, other] = [replicas.have('{1}:identity'), replicas.have('{2}:identity')];
    expect(asked.map(({ key }) => key)).toEqual(['{1}:identity', '{2}:identity']);
    asked[1]!.answer(acknowledged(1));
    await other;
    asked[0]!.answer(moved);
    await settled();
    expect([redirected, asked.length]).toEqual([['{1}:identity'], 3]);
    asked[2]!.answer(acknowledged(1));
    await one;
  });

  it('are not waited for when none is required', async () => {
    const { redis, asked } = server();
    await new Replicas(redis, 0).have('a');
    expect(asked).toEqual([]);
  });
});
