import { type Schema, Validator } from '@cfworker/json-schema';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SnapshotShape, StreamEntryShape, type StreamBody } from '@conclave/contracts';
import { openApiText } from '@conclave/contracts/print';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { completed, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open();
  await world.post('/v1/runs', { model: 'conclave', input: 'Why?' });
});
afterEach(() => world.close());

const follow = async (query = '', headers: Record<string, string> = {}, gateway = world) =>
  new SseClient(await fetch(`${gateway.url}/v1/runs/${world.run()}/events${query}`, { headers }));
const some: StreamBody[] = [
  { kind: 'planning', epoch: 0, iteration: 0, max: 3 },
  { kind: 'replanning', iteration: 1, max: 3, gap: 'the year' },
];
const { components } = JSON.parse(openApiText('1.2.3')) as { components: { schemas: Record<string, Schema> } };
/** Whether the data of an event has the shape that the OpenAPI document shows. */
const isDocumented = (data: string) => new Validator(components.schemas['StreamEntry']!, '2020-12').validate(JSON.parse(data)).valid;
const ids = (client: SseClient) => client.events.filter((event) => event.id).map((event) => Number(event.id));

describe('the events of a run', () => {
  it('arrive with ids and names as they are written and end after the terminal entry', async () => {
    const client = await follow();
    world.write(...some);
    await until('two events', () => client.events.length === 2);
    world.compose();
    await world.chunk('It', 0);
    world.write(completed());
    const events = await client.all();
    expect(events.map((event) => event.event)).toEqual(['planning', 'replanning', 'composing', 'chunk', 'run.completed']);
    expect(ids(client)).toEqual([1, 2, 3, 4, 5]);
    for (const event of events) expect(StreamEntryShape.safeParse(JSON.parse(event.data!)).success).toBe(true);
    for (const event of events) expect([event.data, isDocumented(event.data!)]).toEqual([event.data, true]);
    expect(isDocumented('{"id":1,"at":1,"kind":"planning"}')).toBe(false);
    expect(client.error).toBeNull();
  });

  it('are resumed after any id, by header or by query', async () => {
    world.write(...some, completed());
    expect(await (await follow('?after=1')).all()).toHaveLength(2);
    expect(await (await follow('', { 'last-event-id': '2' })).all()).toHaveLength(1);
    expect(await (await follow('?after=1', { 'last-event-id': '2' })).all()).toHaveLength(1);
  });

  it('are resumed on another gateway without losses or repeats', async () => {
    const first = await follow();
    world.write(...some);
    await until('two events', () => first.events.length === 2);
    await world.app.close();
    await first.all();
    expect(first.events.at(-1)!.comment).toContain('Last-Event-ID');
    const other = await World.open({ share: world });
    try {
      const second = await follow('', { 'last-event-id': String(ids(first).at(-1)) }, other);
      world.write({ kind: 'decided', epoch: 0, rule: 'D9', sentence: 'A gap is left.' }, completed());
      await second.all();
      expect([...ids(first), ...ids(second)]).toEqual([1, 2, 3, 4]);
    } finally {
      await other.close();
    }
  });

  it('end immediately for a reader that has seen the end', async () => {
    world.write(...some, completed());
    expect(await (await follow('?after=3')).all()).toEqual([]);
  });

  it('start with a snapshot for an id that the stream never had', async () => {
    world.compose();
    await world.chunk('It is', 0);
    const client = await follow('?after=99');
    await until('the snapshot', () => client.events.length === 1);
    expect(client.events[0]).toMatchObject({ event: 'snapshot', id: null });
    expect(isDocumented(client.events[0]!.data!)).toBe(true);
    expect(SnapshotShape.parse(JSON.parse(client.events[0]!.data!))).toEqual({
      kind: 'snapshot',
      runId: world.run(),
      first: 1,
      last: 2,
      status: 'collecting',
      text: 'It is',
    });
    world.write(completed());
    await client.all();
    expect(ids(client)).toEqual([3]);
  });

  it('start with a snapshot for an id that the stream no longer holds, and still end with the terminal entry', async () => {
    world.write(...some, completed());
    world.stores.trimmed.set(world.run(), 3);
    const client = await follow('?after=1');
    await client.all();
    expect(client.events.map((event) => event.event)).toEqual(['snapshot', 'run.completed']);
    expect(JSON.parse(client.events[0]!.data!)).toMatchObject({ first: 3, last: 3, status: 'completed', text: 'It is blue [1].' });
  });

  it.each(['', '?after=2'])('are one snapshot when the stream has expired (%s)', async (query) => {
    world.write(...some, completed());
    world.stores.streams.delete(world.run());
    const client = await follow(query);
    await client.all();
    expect(client.events.map((event) => event.event)).toEqual(['snapshot']);
    expect(JSON.parse(client.events[0]!.data!)).toMatchObject({ first: 0, last: 0, status: 'completed', text: 'It is blue [1].' });
  });

  it.each(['?after=x', '?after=-1'])('refuse %s', async (query) => {
    const response = await fetch(`${world.url}/v1/runs/${world.run()}/events${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'after' } });
  });

  it('are kept alive with comments', async () => {
    await world.close();
    world = await World.open({ limits: { firstHeartbeatMs: 20, heartbeatMs: 20 } });
    await world.post('/v1/runs', { model: 'conclave', input: 'Why?' });
    const client = await follow();
    await until('heartbeats', () => client.events.filter((event) => event.comment).length >= 2);
    world.write(completed());
    await client.all();
    expect(ids(client)).toEqual([1]);
  });
});
