import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfiguration } from '@conclave/platform';
import { until } from '@conclave/test-support';
import { up, type RunningServer } from './commands/up.js';

const localServers = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };
const quiet = { write: () => true };
let home: string;
let running: RunningServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'conclave-knowledge-'));
  mkdirSync(join(home, 'skills'));
  writeFileSync(
    join(home, 'skills', 'brief.md'),
    '---\nname: brief\ndescription: Answers briefly\n---\nAnswer in one sentence: $ARGUMENTS\n',
  );
  writeFileSync(join(home, 'conclave.yaml'), 'skills: ./skills\nmcp: { precision: { enabled: false } }\n');
  await start();
}, 60_000);
afterAll(async () => {
  await running.close();
  rmSync(home, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const variables = { CONCLAVE_HOME: join(home, 'data'), CONCLAVE_CONFIG: join(home, 'conclave.yaml'), PORT: '0', LOG_LEVEL: 'silent' };
  const loaded = loadConfiguration(variables, home);
  running = await up({ loaded, out: quiet, terminal: quiet, localServers });
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}
async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const isForm = body instanceof FormData;
  const key = { 'x-api-key': readFileSync(join(home, 'data', 'admin.key'), 'utf8').trim() };
  const response = await fetch(`${running.listening.url}/v1${path}`, {
    method,
    headers: { ...key, ...(isForm || body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(isForm ? { body } : body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}
const slow = { timeoutMs: 20_000 };
const ended = async (run: string): Promise<Answer['body']> => {
  await until('the end of a run', async () => (await call('GET', `/runs/${run}`)).body['terminal'] === true, slow);
  return (await call('GET', `/runs/${run}`)).body;
};
const ask = async (input: string): Promise<string> => (await call('POST', '/runs', { model: 'conclave-fast', input })).body['id'] as string;

describe('the whole product in one process', () => {
  it('reads an uploaded document, reports progress, and keeps its content over a restart', async () => {
    expect((await call('POST', '/collections', { name: 'manuals', description: 'Manuals of pumps.' })).status).toBe(201);
    const form = new FormData();
    form.append(
      'file',
      new File(['<html><head><title>Pump</title></head><body><h1>Pump P-7</h1><p>The valve opens at 4 bar.</p></body></html>'], 'p7.html', {
        type: 'text/html',
      }),
    );
    const { id } = (await call('POST', '/collections/manuals/documents', form)).body;
    const broken = (
      await call('POST', '/collections/manuals/documents', { name: 'broken.pdf', mime: 'application/pdf', text: '%PDF-1.7 nonsense' })
    ).body['id'];
    const path = (which: unknown) => `/collections/manuals/documents/${String(which)}`;
    await until('a document that is ready', async () => (await call('GET', path(id))).body['status'] === 'ready', slow);
    await until('a document that failed', async () => (await call('GET', path(broken))).body['status'] === 'failed', slow);
    expect((await call('GET', path(id))).body).toMatchObject({
      title: expect.stringContaining('Pump'),
      chunks: { done: 1, total: 1 },
      problem: null,
    });
    expect((await call('GET', path(broken))).body).toMatchObject({ problem: expect.stringMatching(/\w/) });
    expect((await call('GET', '/admin/dead-letters')).body).toMatchObject({ total: 0 });
    await running.close();
    await start();
    expect((await call('GET', path(id))).body).toMatchObject({ status: 'ready' });
    expect((await call('DELETE', path(id))).status).toBe(200);
    expect((await call('GET', '/collections/manuals/documents')).body).toMatchObject({ data: [{ id: broken }] });
  }, 60_000);

  it('answers a skill, and accepts one rating for the answer', async () => {
    const run = await ask('/brief What is a valve?');
    const { question } = await ended(run);
    expect(question).toMatch(/^Answer in one sentence:\s+<<<DATA\nWhat is a valve\?\nDATA>>>/);
    expect((await call('POST', '/feedback', { response_id: run, rating: 5 })).status).toBe(202);
    expect((await call('POST', '/feedback', { response_id: run, rating: 1 })).status).toBe(409);
  }, 60_000);

  it("uses the operator's prompt for runs that start two seconds later, while earlier runs keep theirs", async () => {
    const versionOf = async (run: string) => ((await call('GET', `/runs/${run}`)).body['template'] as { version: string }).version;
    const before = await ask('What is a pump?');
    const first = await versionOf(before);
    expect((await call('PUT', '/admin/prompts/composer', { text: 'Write {nothing}.' })).status).toBe(400);
    expect((await call('PUT', '/admin/prompts/composer', { text: 'Write the answer from the facts.' })).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // changed settings apply within this time
    const changed = await versionOf(await ask('What is a hose?'));
    expect(changed).not.toBe(first);
    expect(await versionOf(before)).toBe(first);
    expect((await call('POST', '/admin/prompts/composer/rollback', {})).body).toMatchObject({ text: null });
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // the same
    expect(await versionOf(await ask('What is a nut?'))).toBe(first);
  }, 60_000);

  it('shows the quarantine of its graph', async () => {
    expect(await call('GET', '/admin/knowledge/quarantine')).toEqual({ status: 200, body: { object: 'list', data: [] } });
  });
});
