import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Event, Template } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { startRedis, type UrlInstance } from '@conclave/test-support/real-servers';
import { Redis } from 'ioredis';
import { instantModels, type InstantModels } from '../committee/instant-models.js';
import { callsPerRun, roleOf } from '../committee/replies.js';
import { nextRunId, requestOf } from '../committee/run-starter.js';
import { committeeTemplate } from '../committee/template.js';
import type { Hop } from '../round-trips/stepped-log.js';
import { startStepped, type SteppedServices } from '../round-trips/stepped-services.js';
import { bytesOf, keptOfRun, type KeptKey } from './kept-of-run.js';

/** Bytes that an ended run may keep. Its stream stays for an hour. */
const atMostBytes = 20_000;
const hourMs = 60 * 60 * 1000;

/** A plan, one expert and an answer. */
const threeCalls: Template = {
  ...committeeTemplate,
  ...{ id: 'three', strategy: 'single-pass', complexity: 'moderate', refine_rounds: 0 },
  experts: { general: committeeTemplate.experts['general']! },
};
const planOfOne = JSON.stringify({ tasks: [{ id: 'x1', task: 'Say how walls keep warmth', capability: 'expert.general', needs: [] }] });

/** The models of the benchmarks; their planner dispatches one task if the prompt lists one expert. */
function models(): InstantModels {
  const instant = instantModels();
  return {
    ...instant,
    async call(request, options) {
      const reply = await instant.call(request, { ...options, onDelta: undefined });
      const isSmall = roleOf(request.messages) === 'planner' && !request.messages.some(({ content }) => content.includes('expert.math'));
      const content = isSmall ? planOfOne : reply.content;
      options.onDelta?.({ content });
      return { ...reply, content };
    },
  };
}

describe('What an ended run leaves in Redis', () => {
  jest.setTimeout(60_000);
  let server: UrlInstance;
  let instant: InstantModels;
  let services: SteppedServices;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
    instant = models();
    services = await startStepped({ redisUrl: server.url, keyPrefix: 'ended:', models: instant });
  }, 90_000);
  afterAll(async () => {
    await services.close();
    redis.disconnect();
    await server.destroy();
  });

  /** A run from its request to the last of its records. */
  async function run(template: Template): Promise<{ readonly runId: string; readonly hops: readonly Hop[]; readonly calls: number }> {
    const { redis: state, log } = services;
    const before = instant.calls();
    const header = requestOf(nextRunId(), template);
    await state.store.runs.accept({ header, retryKey: null, openLimit: 1_000 });
    await log.publish([header]);
    const hops: Hop[] = [];
    for (let hop = log.next(); hop; hop = log.next()) {
      await hop.take();
      hops.push(hop);
    }
    return { runId: header.runId, hops, calls: instant.calls() - before };
  }
  /** The keys of a run once the store knows which outputs are on the log, which is a moment after the end. */
  const settled = async (runId: string): Promise<readonly KeptKey[]> => {
    const bodies = async (): Promise<readonly string[]> => [
      // The nonce of the commit precedes the body.
      ...Object.values(await redis.hgetall(await keyOf(runId, 'applied'))).map((value) => value.slice(36)),
      ...Object.entries(await redis.hgetall(await keyOf(runId, 'journal'))).flatMap(([field, value]) =>
        field.startsWith('outcome:') ? [value] : [],
      ),
    ];
    await until('the store has forgotten what is on the log', async () => (await bodies()).every((body) => body === '' || body === '[]'), {
      timeoutMs: 20_000,
      everyMs: 100,
    });
    return keptOfRun(server.url, runId);
  };
  const keyOf = async (runId: string, name: string): Promise<string> => (await redis.keys(`*:run:${runId}:${name}`))[0] ?? '';

  it.each([
    ['three calls', threeCalls, 3],
    ['thirteen calls', committeeTemplate, callsPerRun],
  ] as const)('of %s is at most 20 KB, in addition to the stream, which is kept for an hour', async (_calls, template, expected) => {
    const { runId, calls } = await run(template);
    expect(calls).toBe(expected);
    const stored = await services.redis.store.runs.read(runId);
    expect(stored).toMatchObject({ terminal: true, status: 'completed' });
    const kept = await settled(runId);
    const [brief, long] = [kept.filter(({ leftMs }) => leftMs <= hourMs), kept.filter(({ leftMs }) => leftMs > hourMs)];
    expect(kept.filter(({ leftMs }) => leftMs === Infinity)).toEqual([]);
    expect(brief.map(({ name }) => name).sort()).toEqual(['stream', 'stream:tasks']);
    expect(long.map(({ name }) => name)).toEqual(expect.arrayContaining(['run', 'applied', 'journal', 'started', 'usage']));
    expect(bytesOf(long)).toBeLessThanOrEqual(atMostBytes);
  });

  it('is enough for every record that is delivered again: no model is called, and nothing is published or changed', async () => {
    const { runId, hops } = await run(committeeTemplate);
    await settled(runId);
    const { log } = services;
    const { runs, usage } = services.redis.store;
    const [before, spent, calls] = [await runs.read(runId), await usage.ofRun(runId), instant.calls()];
    const published = jest.spyOn(log, 'publish');
    for (const hop of hops) await hop.take();
    const again = published.mock.calls.flatMap(([events]) => events as readonly Event[]);
    expect(again.map(({ type, id }) => `${type} ${id}`)).toEqual([]);
    expect(instant.calls()).toBe(calls);
    expect(await runs.read(runId)).toEqual(before);
    expect(await usage.ofRun(runId)).toEqual(spent);
    expect(hops.length).toBeGreaterThan(callsPerRun);
  });
});
