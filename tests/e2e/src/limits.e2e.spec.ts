import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/test-support';
import { CommitteeScript, expert, System, user } from '@conclave/test-support/system';

/** Tokens of a call directly to the model, and how many such calls the budget of its key allows. */
const perCall = 50;
const calls = 50;
const keys = { ann: 'sk-limits-ann', bob: 'sk-limits-bob', cyd: 'sk-limits-cyd' } as const;
const runTokens = CommitteeScript.tokens(['planner', 'expert', 'composer']).total_tokens;
const budget = 100_000;

let system: System;
beforeAll(async () => {
  system = await System.start({
    gateways: 2,
    configuration: {
      gateway: { reserve_tokens: 2 * perCall },
      keys: {
        ann: { key_env: 'KEY_OF_ANN', limits: { tokens_per_day: calls * perCall } },
        bob: { key_env: 'KEY_OF_BOB', limits: { tokens_per_month: budget, requests_per_minute: 1_000 } },
        cyd: { key_env: 'KEY_OF_CYD', limits: { concurrent_runs: 1 } },
      },
    },
    env: { KEY_OF_ANN: keys.ann, KEY_OF_BOB: keys.bob, KEY_OF_CYD: keys.cyd },
  });
});
afterAll(() => system?.stop());
afterEach(() => expect(system?.models.violations() ?? []).toEqual([]));

const post = async (gateway: number, path: string, key: string, body: object) => {
  const response = await fetch(`${system.url(gateway)}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  const read = (await response.json()) as { id: string; error?: { code: string } };
  return { status: response.status, headers: response.headers, id: read.id, code: read.error?.code ?? null };
};
const run = (gateway: number, key: string, input: string) => post(gateway, '/runs', key, { model: 'conclave-fast', input });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('limits of a key', () => {
  it('apply to 200 concurrent requests at two gateways: a budget for 50 is used up, and exceeded by at most one reservation', async () => {
    const question = `How far does a budget reach? ${Date.now()}`;
    system.models.add({
      name: 'direct',
      match: question,
      reply: { text: 'Far enough.', usage: { prompt_tokens: 30, completion_tokens: perCall - 30 } },
      times: Number.POSITIVE_INFINITY,
    });
    // Each asks until it is answered or the budget is spent, as an SDK does.
    const ask = async (n: number): Promise<string> => {
      for (;;) {
        const asked = await post(1 + (n % 2), '/chat/completions', keys.ann, { model: 'scripted@fake', messages: user(question) });
        if (asked.status === 200) return 'answered';
        expect(asked.status).toBe(429);
        if (asked.code === 'insufficient_quota') return 'spent';
        await pause(100 + (n % 10) * 20);
      }
    };
    const ends = await Promise.all(Array.from({ length: 200 }, (_, n) => ask(n)));
    const answered = ends.filter((end) => end === 'answered').length;
    const spent = perCall * system.models.calls.filter(({ messages }) => JSON.stringify(messages).includes(question)).length;
    expect(spent).toBe(answered * perCall);
    expect(spent).toBeGreaterThanOrEqual(0.9 * calls * perCall);
    expect(spent).toBeLessThanOrEqual(calls * perCall + 2 * perCall);
  });

  it('are charged for what a run spent, even when no client waits for it', async () => {
    const s = new CommitteeScript(system.models, `What does a run spend? ${Date.now()}`).plan([expert('x1', 'Say it.')]);
    s.expert('Little.').answer(['It spends ', 'little.']);
    const started = await run(1, keys.bob, s.question);
    expect([started.status, started.headers.get('x-ratelimit-limit-requests'), started.headers.get('x-ratelimit-limit-tokens')]).toEqual([
      ...[202, '1000', String(budget)],
    ]);
    const ping = `Ping ${Date.now()}`;
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    system.models.add({ name: 'ping', match: ping, reply: { text: 'Pong.', usage }, times: Number.POSITIVE_INFINITY });
    let before = budget;
    await until(
      'the run is charged',
      async () => {
        const next = await post(2, '/chat/completions', keys.bob, { model: 'scripted@fake', messages: user(ping), max_tokens: 1 });
        const remaining = Number(next.headers.get('x-ratelimit-remaining-tokens'));
        const charged = before - remaining > runTokens / 2 && remaining < budget - runTokens;
        before = remaining;
        return charged || undefined;
      },
      { timeoutMs: 60_000, everyMs: 300 },
    );
  });

  it('get back the reservations of a killed gateway within 60 seconds', async () => {
    const question = `Who holds the place? ${Date.now()}`;
    system.models.add({ name: 'holder', match: question, reply: { hang: true } });
    const holds = post(1, '/chat/completions', keys.cyd, { model: 'scripted@fake', messages: user(question) }).catch(() => 'cut');
    await until('the model is asked', () => system.models.calls.some(({ messages }) => JSON.stringify(messages).includes(question)));
    const refused = await run(2, keys.cyd, 'And me?');
    expect([refused.status, refused.code]).toEqual([429, 'rate_limit_exceeded']);
    await system.process('gateway', 1).kill('SIGKILL');
    const killed = performance.now();
    await system.process('gateway', 1).ready();
    const next = new CommitteeScript(system.models, `Who is next? ${Date.now()}`)
      .plan([expert('x1', 'Go.')])
      .expert('Gone.')
      .answer(['Gone.']);
    await until('the place is free', async () => (await run(2, keys.cyd, next.question)).status === 202 || undefined, {
      timeoutMs: 90_000,
    });
    expect(performance.now() - killed).toBeLessThan(60_000);
    expect(await holds).toBe('cut');
  });
});
