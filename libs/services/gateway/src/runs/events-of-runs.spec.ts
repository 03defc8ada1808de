import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RunsEntryShape, SnapshotShape, type StreamBody, StreamEntryShape } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { completed, twoTenants, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const started = async (headers: Record<string, string> = {}): Promise<string> => {
  const body = JSON.stringify({ model: 'conclave', input: 'Why?' });
  const response = await fetch(`${world.url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return ((await response.json()) as { id: string }).id;
};
const ask = (runs: string, headers: Record<string, string> = {}) => fetch(`${world.url}/v1/events?runs=${runs}`, { headers });
const planning: StreamBody = { kind: 'planning', epoch: 0, iteration: 0, max: 3 };
const again: StreamBody = { kind: 'replanning', iteration: 1, max: 3, gap: 'the year' };
const seen = (client: SseClient, run: string) =>
  client.events
    .filter(({ data }) => data !== null)
    .map(({ data }) => JSON.parse(data!) as { runId: string; id?: number; kind: string })
    .filter(({ runId }) => runId === run)
    .map(({ id = 0, kind }) => `${id} ${kind}`);

describe('the events of several runs', () => {
  it('arrive on one connection with the id of their run, each run from its own position, and end with the last run', async () => {
    const [one, other] = [await started(), await started()];
    world.stores.write(other, [planning]);
    const client = new SseClient(await ask(`${one}:0,${other}:1`));
    world.stores.write(one, [planning, again]);
    world.stores.write(other, [again, completed()]);
    await until('the end of one run', () => seen(client, other).length === 2);
    expect(client.ended).toBe(false);
    world.stores.write(one, [completed()]);
    const events = await client.all();
    expect(seen(client, one)).toEqual(['1 planning', '2 replanning', '3 run.completed']);
    expect(seen(client, other)).toEqual(['2 replanning', '3 run.completed']);
    for (const { data, id } of events) {
      for (const shape of [RunsEntryShape, StreamEntryShape]) expect(shape.safeParse(JSON.parse(data!)).success).toBe(true);
      // An event id of one run would say nothing about the others.
      expect(id).toBeNull();
    }
  });

  it('start with the snapshot of a run whose position is no longer in the stream', async () => {
    const [one, other] = [await started(), await started()];
    world.stores.write(one, [planning, again, completed()]);
    world.stores.write(other, [planning, completed()]);
    world.stores.trimmed.set(one, 3);
    const client = new SseClient(await ask(`${one}:1,${other}:2`));
    const [first] = await client.all();
    expect(SnapshotShape.parse(JSON.parse(first!.data!))).toMatchObject({ runId: one, first: 3, last: 3 });
    expect(seen(client, one)).toEqual(['0 snapshot', '3 run.completed']);
    expect(seen(client, other)).toEqual([]);
  });

  it('count as one open stream, which ends when its client disconnects', async () => {
    const [one, other] = [await started(), await started()];
    const leaving = new AbortController();
    await fetch(`${world.url}/v1/events?runs=${one},${other}`, { signal: leaving.signal });
    expect(world.metric('onStreamOpen')).toEqual([['events']]);
    leaving.abort();
    await until('the closed stream', () => world.metric('onStreamClose').length === 1);
    expect(world.metric('onStreamClose')).toEqual([['events', 'disconnected']]);
  });

  it('are refused as a whole, naming the run that cannot be read: an unknown one, or one of another tenant', async () => {
    await world.close();
    world = await World.open({ keys: twoTenants });
    const [own, foreign] = [await started({ 'x-api-key': 'sk-b' }), await started({ 'x-api-key': 'sk-a' })];
    for (const bad of [foreign, 'run_00000000', 'nonsense']) {
      const response = await ask(`${own},${bad}:3`, { 'x-api-key': 'sk-b' });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: 'RUN_NOT_FOUND', param: bad } });
    }
    expect(world.metric('onStreamOpen')).toEqual([]);
  });

  it.each(['', ',', 'run_a:', 'run_a:x', Array.from({ length: 51 }, (_, n) => `run_${n}`).join(',')])(
    'are refused for %p',
    async (runs) => {
      const response = await ask(runs);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param: 'runs' } });
    },
  );
});
