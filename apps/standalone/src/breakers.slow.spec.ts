import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfiguration } from '@conclave/platform';
import { ScriptedModelServer, until } from '@conclave/test-support';
import { up, type RunningServer } from './commands/up.js';

const quiet = { write: () => true };
const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
/** Longer than a question takes on a busy machine. */
const openS = 8;
const plan = JSON.stringify({ tasks: [{ id: 'x1', task: 'answer it', category: 'general' }] });
let sick: ScriptedModelServer;
let well: ScriptedModelServer;
let running: RunningServer;
let home: string;

beforeAll(async () => {
  // 501 is not retried inside one call.
  sick = await ScriptedModelServer.start({
    script: [
      { match: () => true, reply: { status: 501, body: { error: { message: 'out of order' } } }, times: 5 },
      { match: { system: 'You are the planner' }, reply: { text: plan }, times: Infinity },
    ],
  });
  well = await ScriptedModelServer.start({
    script: [
      { match: { system: 'You are the planner' }, reply: { text: plan }, times: Infinity },
      { match: { system: 'You are an expert' }, reply: { text: 'Forty-two.\nCONFIDENCE: high' }, times: Infinity },
      { match: () => true, reply: { text: 'Forty-two.' }, times: Infinity },
    ],
  });
  home = mkdtempSync(join(tmpdir(), 'conclave-breakers-'));
  const template = {
    strategy: 'single-pass',
    complexity: 'moderate',
    planner: { models: ['a@sick', 'b@well'] },
    judge: { model: 'b@well' },
    experts: { general: { t1: ['b@well'] } },
    capabilities: [],
    learn: 'off',
    caches: { answer: false, plan: false, search: false },
  };
  const configuration = {
    providers: { sick: { base_url: sick.url, breaker: { open_s: openS } }, well: { base_url: well.url } },
    templates: { quick: template },
    mcp: { precision: { enabled: false } },
  };
  writeFileSync(join(home, 'conclave.yaml'), JSON.stringify(configuration));
  const variables = {
    CONCLAVE_HOME: join(home, 'data'),
    CONCLAVE_CONFIG: join(home, 'conclave.yaml'),
    PORT: '0',
    ADMIN_PORT: '0',
    LOG_LEVEL: 'silent',
  };
  running = await up({ loaded: loadConfiguration(variables, home), out: quiet, terminal: quiet, localServers });
}, 60_000);
afterAll(async () => {
  await running.close();
  await Promise.all([sick.close(), well.close()]);
  rmSync(home, { recursive: true, force: true });
});

async function get(path: string, init: RequestInit = {}): Promise<string> {
  const key = readFileSync(join(home, 'data', 'admin.key'), 'utf8').trim();
  const response = await fetch(`${running.listening.url}${path}`, {
    ...init,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
  });
  return response.text();
}

/** A run's progress lines, after it has ended with an answer. */
async function ask(): Promise<string> {
  const body = JSON.stringify({ model: 'quick', input: 'What is the answer, and why is it the answer?' });
  const { id } = JSON.parse(await get('/v1/runs', { method: 'POST', body })) as { id: string };
  const view = async () => JSON.parse(await get(`/v1/runs/${id}`)) as Record<string, unknown>;
  await until('the end of a run', async () => (await view())['terminal'] === true, { timeoutMs: 20_000 });
  const ended = await view();
  expect(ended).toMatchObject({ outcome: 'completed' });
  return get(`/v1/runs/${id}/events`);
}

describe('a provider in the whole product after five failures', () => {
  it('is not called a sixth time, the next model answers, and a probe restores it', async () => {
    for (let n = 0; n < 5; n += 1) expect(await ask()).toContain('The model server failed.');
    expect(sick.calls).toHaveLength(5);

    const moved = await ask();
    expect(moved).toContain('b@well makes the plan of a moderate question, after this: The model server failed too often recently');
    expect(moved).not.toContain('a@sick makes the plan');
    expect(sick.calls).toHaveLength(5);

    const metrics = async () => (await fetch(`http://127.0.0.1:${running.adminPort}/metrics`)).text();
    expect(await metrics()).toMatch(/conclave_provider_breaker\{[^}]*provider="sick"[^}]*\} 2/);
    expect(await metrics()).toMatch(/conclave_provider_breaker_openings_total\{[^}]*provider="sick"[^}]*\} 1/);

    await until(
      'the time of the open breaker to be over',
      async () => /provider_breaker\{[^}]*provider="sick"[^}]*\} 1/.test(await metrics()),
      {
        timeoutMs: 20_000,
      },
    );
    expect(await ask()).toContain('a@sick makes the plan of a moderate question');
    expect(sick.calls).toHaveLength(6);
    expect(await metrics()).toMatch(/conclave_provider_breaker\{[^}]*provider="sick"[^}]*\} 0/);
  }, 60_000);
});
