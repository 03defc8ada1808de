import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { RunView } from '@conclave/contracts';
import { loadConfiguration } from '@conclave/platform';
import { expertPrompts } from '@conclave/strategies';
import { ScriptedModelServer, until } from '@conclave/test-support';
import { up, type RunningServer } from './commands/up.js';

jest.setTimeout(60_000);

const quiet = { write: () => true };
const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const plan = JSON.stringify({ tasks: [{ id: 'x1', task: 'answer it', category: 'general' }] });
const script = [
  { match: { system: 'You are the planner' }, reply: { text: plan }, times: Infinity },
  { match: { system: 'You are an expert' }, reply: { text: 'Forty-two.\nCONFIDENCE: high' }, times: Infinity },
  { match: () => true, reply: { text: 'Forty-two.' }, times: Infinity },
];
const template = { strategy: 'single-pass', complexity: 'moderate', capabilities: ['research', 'collections'], learn: 'triples' };
let near: ScriptedModelServer;
let far: ScriptedModelServer;
let running: RunningServer;
let home: string;

/** A server is only declared to be outside, because a real address outside would not answer. */
const load = (more: object = {}, data = 'data') => {
  const configuration = {
    // The only configured model, which is also the smallest, is outside: everything else prefers it.
    providers: { far: { base_url: far.url, local: false }, near: { base_url: near.url } },
    models: { 'tiny-1b@far': {} },
    templates: { loud: template, quiet: { ...template, local_only: true } },
    mcp: { precision: { enabled: false } },
    ...more,
  };
  writeFileSync(join(home, 'conclave.yaml'), JSON.stringify(configuration));
  const variables = { CONCLAVE_HOME: join(home, data), CONCLAVE_CONFIG: join(home, 'conclave.yaml'), PORT: '0', LOG_LEVEL: 'silent' };
  return loadConfiguration(variables, home, { categories: Object.keys(expertPrompts) });
};

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'conclave-local-only-'));
  near = await ScriptedModelServer.start({ script, models: ['large-70b'] });
  far = await ScriptedModelServer.start({ script, models: ['tiny-1b'] });
  running = await up({ loaded: load(), out: quiet, terminal: quiet, localServers });
});
afterAll(async () => {
  await running?.close();
  await Promise.all([near?.close(), far?.close()]);
  rmSync(home, { recursive: true, force: true });
});

const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${running.listening.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': readFileSync(join(home, 'data', 'admin.key'), 'utf8').trim(), ...headers },
    body: JSON.stringify(body),
  });
async function ended(id: string): Promise<RunView> {
  return until(
    'the end of the run',
    async () => {
      const view = (await (await fetch(`${running.listening.url}/v1/runs/${id}`)).json()) as RunView;
      return view.terminal && view;
    },
    { timeoutMs: 30_000 },
  );
}
const title = {
  messages: [{ role: 'user', content: '### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.' }],
};

describe('a template that is `local_only`', () => {
  it('answers its runs and the prompts of front ends only with local models', async () => {
    const { id } = (await (await post('/v1/runs', { model: 'quiet', input: 'What is the answer, and why is it the answer?' })).json()) as {
      id: string;
    };
    expect(await ended(id)).toMatchObject({ outcome: 'completed', answer: expect.stringContaining('Forty-two.') });
    expect(near.calls.length).toBeGreaterThan(1);
    expect((await post('/v1/chat/completions', { model: 'quiet', ...title }, { 'x-conclave-task': 'title_generation' })).status).toBe(200);
    expect(near.calls.filter(({ messages }) => JSON.stringify(messages).includes('Generate a concise'))).toHaveLength(1);
    expect((await post(`/v1/runs/${id}/forks`, { step: 1, model: 'tiny-1b@far' })).status).toBe(409);
    expect(far.calls).toEqual([]);
  });

  it('does not apply to another template, which prefers models outside', async () => {
    const { id } = (await (await post('/v1/runs', { model: 'loud', input: 'What is the answer, and why is it the answer?' })).json()) as {
      id: string;
    };
    await ended(id);
    expect(far.calls.length).toBeGreaterThan(1);
    expect((await post(`/v1/runs/${id}/forks`, { step: 1, model: 'tiny-1b@far' })).status).toBe(202);
  });

  it.each([
    ['a model', { templates: { quiet: { ...template, local_only: true, judge: { model: 'tiny-1b@far' } } } }, /its model tiny-1b@far/],
    ['an embedder', { embeddings: { model: 'e@far' } }, /`embeddings.model` is e@far/],
    ['a reranker', { rerank: { collections: { model: 'r@far' } } }, /`rerank.collections.model` is r@far/],
  ])('starts no server that has %s outside', async (_, more, sentence) => {
    await expect(up({ loaded: load(more, 'another'), out: quiet, terminal: quiet, localServers })).rejects.toThrow(sentence);
  });
});
