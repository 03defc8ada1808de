import { createServer, type Server } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chooseModels, loadConfiguration, noProbe, openMetrics, openReadiness, silentLogger, type Loaded } from '@conclave/platform';
import { leaseRenewMs, leaseTtlMs } from '@conclave/ports';
import { openModels } from './open-models.js';
import { openPorts } from './open-ports.js';

const observers = {
  logger: silentLogger,
  metrics: openMetrics(),
  probe: noProbe,
  readiness: openReadiness(),
};
const closedPorts = { ollama: 9, lmstudio: 9, llamacpp: 9, vllm: 9 };

let folder: string;
const open: { close(): unknown }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-selection-'));
});
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  rmSync(folder, { recursive: true, force: true });
});

const load = (variables: Record<string, string> = {}, yaml?: string): Loaded => {
  if (yaml) writeFileSync(join(folder, 'conclave.yaml'), yaml);
  return loadConfiguration(variables, folder);
};

/** A server that lists these models and answers every call with its own name; any other request gets a 500. */
async function modelServer(...ids: readonly string[]): Promise<number> {
  const server: Server = createServer((request, response) => {
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.method === 'GET' && request.url === '/v1/models')
      return void json(200, { object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });
    if (request.method === 'POST' && request.url === '/v1/chat/completions') {
      const chunk = (choice: object) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: ids[0], choices: [{ index: 0, ...choice }] })}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        `${chunk({ delta: { role: 'assistant', content: 'I am here.' }, finish_reason: null })}${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`,
      );
      return;
    }
    json(500, { error: { message: `unscripted: ${request.method} ${request.url}` } });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))) });
  return (server.address() as AddressInfo).port;
}

async function models(loaded: Loaded, ports: Partial<typeof closedPorts> = {}) {
  const opened = await openModels(loaded, { discover: true, ports: { ...closedPorts, ...ports } });
  open.push(opened.models);
  const [list, providers] = await Promise.all([opened.models.list(), opened.models.providers()]);
  return { ...opened, list, providers, choice: chooseModels(loaded.configuration, list, providers) };
}

describe('the choice of models', () => {
  it('is the demo if nothing is configured and nothing is found', async () => {
    const { demoOnly, choice } = await models(load());
    expect(demoOnly).toBe(true);
    expect(choice.because).toBe('demo');
  });

  it('is a server found at its usual port, without the demo in the list', async () => {
    const { demoOnly, choice, list } = await models(load(), { ollama: await modelServer('nomic-embed-text', 'qwen3:8b') });
    expect(demoOnly).toBe(false);
    expect(choice).toMatchObject({ because: 'local', models: [{ ref: 'qwen3:8b@ollama' }] });
    expect(list.some(({ demo }) => demo)).toBe(false);
  });

  it('spreads several models of one machine over the parts of the committee, and never uses those that cannot chat', async () => {
    const { choice } = await models(load(), {
      ollama: await modelServer(
        'nomic-embed-text',
        'whisper-1',
        'llama3.1:8b',
        'bge-reranker-v2',
        'qwen2.5-coder:7b',
        'gemma3:27b',
        'qwen3:0.6b',
      ),
    });
    expect(choice.roles).toEqual({
      judge: 'gemma3:27b@ollama',
      experts: ['llama3.1:8b@ollama'],
      secondTier: ['gemma3:27b@ollama'],
      code: ['qwen2.5-coder:7b@ollama'],
      vision: ['llama3.1:8b@ollama'],
    });
  });

  it('is the server of OPENAI_BASE_URL, and others are not searched for', async () => {
    const found = await modelServer('other');
    const { choice, providers } = await models(load({ OPENAI_BASE_URL: `http://127.0.0.1:${await modelServer('mine')}/v1` }), {
      ollama: found,
    });
    expect(providers.map(({ name }) => name)).toEqual(['openai']);
    expect(choice.models.map(({ ref }) => ref)).toEqual(['mine@openai']);
  });

  it('never follows from a key alone', async () => {
    const { choice, demoOnly } = await models(load({ OPENAI_API_KEY: 'sk-lone-key-123' }));
    expect(demoOnly).toBe(true);
    expect(choice.because).toBe('demo');
  });

  it('reaches a model by name that another process found after this one had searched', async () => {
    const { models: opened } = await models(load());
    const port = await modelServer('late');
    const again = await openModels(load(), { discover: false, ports: { ...closedPorts, ollama: port } });
    open.push(again.models);
    const call = { model: 'late@ollama', messages: [{ role: 'user' as const, content: 'Hi' }], timeoutMs: 5_000 };
    await expect(again.models.call(call, { signal: new AbortController().signal })).resolves.toMatchObject({ content: 'I am here.' });
    await expect(opened.call({ ...call, model: 'x@nowhere' }, { signal: new AbortController().signal })).rejects.toMatchObject({
      code: 'MODEL_NOT_FOUND',
    });
  });
});

describe('the choice of stores and search', () => {
  const ports = async (loaded: Loaded, service: 'standalone' | 'planner' | 'merger' = 'standalone') => {
    const opened = await openPorts({ loaded, observers, service, processId: 'test', localServers: closedPorts });
    open.push(opened);
    return opened;
  };

  it('is the embedded store without any setting, with the sample documents of the demo', async () => {
    const opened = await ports(load());
    expect(opened).toMatchObject({ mode: 'embedded', demoOnly: true, canSearch: true, search: { kind: 'corpus' } });
    expect(opened.sampleQuestion).toMatch(/\?$/);
    expect(opened.graph).not.toBeNull();
    expect(await opened.log.health()).toBeNull();
  });

  it('is the folder of search.corpus', async () => {
    mkdirSync(join(folder, 'documents'));
    writeFileSync(join(folder, 'documents', 'moon.md'), '# Moon\n\nThe moon of Orrin is called Velt.\n');
    const opened = await ports(load({}, 'search: { corpus: ./documents }\n'));
    expect(opened.sampleQuestion).toBeNull();
    const hits = await opened.search!.query({ query: 'moon of Orrin', limit: 3, signal: new AbortController().signal });
    expect(hits[0]).toMatchObject({ title: 'Moon' });
  });

  it('is the SearXNG server of the settings', async () => {
    const opened = await ports(load({}, 'search: { searxng: "http://127.0.0.1:9" }\n'));
    expect(opened).toMatchObject({ canSearch: true, sampleQuestion: null, search: { kind: 'web' } });
  });

  it('is no search beside a real model, unless one is configured', async () => {
    const opened = await ports(load({ OPENAI_BASE_URL: `http://127.0.0.1:${await modelServer('mine')}/v1` }));
    expect(opened).toMatchObject({ canSearch: false, search: null, demoOnly: false });
  });

  it('opens no search and no graph in a process that uses neither', async () => {
    expect(await ports(load(), 'merger')).toMatchObject({ search: null, graph: null, canSearch: true });
  });
});

describe('a process that was killed', () => {
  it('is noticed and gives up its calls within 6 s, which brokers accept; a lease survives one lost renewal', () => {
    const { configuration } = load({ KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' });
    expect(configuration.stores.kafka!.session_timeout_ms).toBe(6_000);
    expect(leaseTtlMs).toBeLessThanOrEqual(configuration.stores.kafka!.session_timeout_ms);
    expect(leaseTtlMs).toBeGreaterThan(2 * leaseRenewMs);
  });
});
