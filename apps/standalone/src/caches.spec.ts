import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { RunView } from '@conclave/contracts';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { until } from '@conclave/test-support';
import { up } from './commands/up.js';

// Starting all services is slow on a busy machine.
jest.setTimeout(60_000);

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const home = mkdtempSync(join(tmpdir(), 'conclave-caches-'));
const sink = { write: () => undefined };
let running: Awaited<ReturnType<typeof up>>;

beforeAll(async () => {
  // Tools found later would change the template and so the cache key.
  const mcp = { precision: { enabled: false } };
  // One expert answers every question: the demo model has no document about these.
  const quick = { strategy: 'single-pass', complexity: 'trivial', caches: { answer: true, semantic: true } };
  writeFileSync(join(home, 'conclave.yaml'), JSON.stringify({ mcp, templates: { quick } }));
  const loaded = loadConfiguration({ CONCLAVE_HOME: home, PORT: '0', ADMIN_PORT: '0' }, home, { categories: Object.keys(expertPrompts) });
  running = await up({ loaded, out: sink, terminal: sink, localServers });
});
afterAll(async () => {
  await running.close();
  rmSync(home, { recursive: true, force: true });
});

async function ask(content: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${running.listening.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'quick', messages: [{ role: 'user', content }] }),
  });
  const body = (await response.json()) as { choices: { message: { content: string } }[]; conclave: { calls: number } };
  const run = (await (await fetch(`${running.listening.url}/v1/runs/${response.headers.get('x-run-id')}`)).json()) as RunView;
  return { cache: response.headers.get('x-conclave-cache'), answer: body.choices[0]!.message.content, calls: body.conclave.calls, run };
}

describe('a question that was answered before', () => {
  it('is answered from the cache once its run was learned, also when paraphrased, and the run reports that', async () => {
    const first = await ask('How tall is the Aurora tower?');
    expect(first.cache).toBeNull();
    expect(first.calls).toBeGreaterThan(0);
    expect(first.run).toMatchObject({ cached: null, complexity: expect.any(String), review: expect.any(String) });
    const again = await until('the exact hit', async () => {
      const next = await ask('how tall is the Aurora tower');
      return next.cache === 'exact' ? next : undefined;
    });
    expect(again).toMatchObject({
      answer: first.answer,
      calls: 0,
      run: { cached: { origin: 'exact', runId: first.run.id, distance: null }, outcome: 'completed' },
    });
    const reworded = await until('the semantic hit', async () => {
      const next = await ask('What is the height of the Aurora tower?');
      return next.cache === null ? undefined : next;
    });
    expect(reworded.cache).toMatch(/^semantic; distance=0\.\d{3}$/);
    expect(reworded).toMatchObject({ answer: first.answer, calls: 0, run: { cached: { origin: 'semantic', runId: first.run.id } } });
    expect(await ask('How tall is the Aurora tower?', { 'x-conclave-cache': 'off' })).toMatchObject({ cache: null, run: { cached: null } });
    const metrics = await (await fetch(`http://127.0.0.1:${running.adminPort}/metrics`)).text();
    expect(metrics).toMatch(/conclave_cache_lookups_total\{cache="exact",result="hit"\} [1-9]/);
    expect(metrics).toMatch(/conclave_cache_lookups_total\{cache="semantic",result="hit"\} [1-9]/);
  });

  // The built-in embedder finds each pair nearly equal: only the gateway's comparison of the words distinguishes them.
  it.each([
    ['Which birds can fly?', "Which birds can't fly?"],
    ['Is python written in c?', 'Is c written in python?'],
    ['When can I apply for a loan?', 'When must I apply for a loan?'],
    ['Ist Kaffee gesund?', 'Ist zu viel Kaffee gesund?'],
  ])('is not confused with another one: "%s" and "%s"', async (asked, changed) => {
    await ask(asked);
    await until('the exact hit', async () => (await ask(asked)).cache === 'exact');
    expect(await ask(changed)).toMatchObject({ cache: null, run: { cached: null } });
  });
});
