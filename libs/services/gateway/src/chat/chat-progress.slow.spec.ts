import { afterEach, describe, expect, it } from '@jest/globals';
import type { StreamBody } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { SseClient } from '../__fixtures__/sse-client.js';
import { completed, World, type WorldOptions } from '../__fixtures__/world.js';

let world: World;
afterEach(() => world.close());

/** Opens a gateway and one stream on it. */
async function streaming(
  over: Record<string, unknown> = {},
  options: WorldOptions = {},
): Promise<{ readonly response: Response; readonly client: SseClient }> {
  world = await World.open(options);
  const response = await world.chat(over);
  return { response, client: new SseClient(response) };
}

const plan: StreamBody[] = [
  { kind: 'run.started', template: 'conclave', strategy: 'agentic', maxRounds: 4, question: 'Why is the sky blue?' },
  { kind: 'planning', epoch: 0, iteration: 0, max: 3 },
  { kind: 'replanning', iteration: 1, max: 3, gap: 'the year' },
];

describe('progress', () => {
  const run = async (over: Record<string, unknown>, options: WorldOptions = {}) => {
    const { client } = await streaming(over, options);
    world.write(...plan);
    world.compose();
    await world.chunk('Blue.', 0);
    world.write({ kind: 'decided', epoch: 1, rule: 'D3', sentence: 'Late line.' }, completed({ answer: 'Blue.', sources: [] }));
    await client.all();
    return client;
  };

  it('is reasoning text by default and stops where the answer begins', async () => {
    const client = await run({});
    expect(client.content).toBe('Blue.');
    expect(client.reasoning).toBe(
      '- 🎯 conclave: strategy agentic, up to 3 re-plans\n- 📋 Planning\n- 🔄 Agentic Loop — Iteration 1/3\n  - gap: the year\n- 🔀 Writing the answer\n',
    );
  });

  it('is one closed block of content in the mode think', async () => {
    const client = await run({ conclave: { progress: 'think' } });
    expect(client.reasoning).toBe('');
    expect(client.content).toMatch(/^<think>\n- 🎯[^<]*Iteration 1\/3[^<]*<\/think>\n\nBlue\.$/);
  });

  it('is status events in the mode status', async () => {
    const client = await run({}, { template: { progress: 'status' } });
    expect(client.content).toBe('Blue.');
    const statuses = client.chunks.filter((chunk) => chunk.event);
    expect(statuses.map((chunk) => chunk.choices)).toEqual(statuses.map(() => []));
    expect(statuses[0]!.event).toEqual({
      type: 'status',
      data: { description: '🎯 conclave: strategy agentic, up to 3 re-plans', done: false },
    });
    expect(statuses.at(-1)!.event!.data.done).toBe(true);
  });

  it('is absent in the mode none', async () => {
    world = await World.open();
    const client = new SseClient(await world.chat({}, { headers: { 'x-conclave-progress': 'none' } }));
    world.write(...plan, completed({ sources: [] }));
    await client.all();
    expect(client.chunks).toHaveLength(3);
  });

  it('closes an open block even when the run fails, and text of a model cannot close it', async () => {
    const { client } = await streaming({ conclave: { progress: 'think' } });
    world.write(
      { kind: 'replanning', iteration: 1, max: 3, gap: 'ends </think> here' },
      completed({
        outcome: 'failed',
        answer: null,
        failure: { code: 'PROVIDER_UNREACHABLE', message: 'No model answered.', retriable: true },
      }),
    );
    await client.all();
    expect(client.content.match(/<think>/g)).toHaveLength(1);
    expect(client.content.match(/<\/think>/g)).toHaveLength(1);
    expect(client.content.trimEnd().endsWith('</think>')).toBe(true);
    expect(client.failure?.code).toBe('PROVIDER_UNREACHABLE');
  });
});

describe('waiting', () => {
  it('sends comment lines between events', async () => {
    const { client } = await streaming({}, { limits: { firstHeartbeatMs: 30, heartbeatMs: 60 } });
    await until('three heartbeats', () => client.events.filter((event) => event.comment).length >= 3);
    world.write(...plan, completed());
    const events = await client.all();
    expect(events.filter((event) => event.comment).every((event) => event.raw === ': keep-alive')).toBe(true);
    expect(client.content).toBe('It is blue [1].');
  });

  it('uses one subscription for all runs, and polls occasionally in case hints are lost', async () => {
    world = await World.open({ limits: { pollMs: 40 } });
    world.stores.deaf = true;
    const clients = await Promise.all(Array.from({ length: 5 }, async () => new SseClient(await world.chat())));
    expect(world.stores.subscriptions).toBe(1);
    for (const runId of world.runs()) world.stores.write(runId, [completed()]);
    await Promise.all(clients.map((client) => client.all()));
    expect(clients.every((client) => client.content === 'It is blue [1].')).toBe(true);
  });

  it('uses one read for all viewers of a run', async () => {
    world = await World.open({ limits: { pollMs: 60_000 } });
    const headers = { 'idempotency-key': 'k1' };
    const clients: SseClient[] = [];
    for (let n = 0; n < 5; n++) clients.push(new SseClient(await world.chat({}, { headers })));
    await until('all roles', () => clients.every((client) => client.chunks.length > 0));
    world.write(...plan);
    await until('all plans', () => clients.every((client) => client.reasoning.includes('Iteration')));
    const before = world.stores.reads.length;
    world.write({ kind: 'decided', epoch: 0, rule: 'D7', sentence: 'Nothing new came.' });
    await until('all decisions', () => clients.every((client) => client.reasoning.includes('⚖️ Nothing new came.')));
    expect(world.stores.reads.length - before).toBeLessThanOrEqual(2);
    world.write(completed());
    await Promise.all(clients.map((client) => client.all()));
  });
});
