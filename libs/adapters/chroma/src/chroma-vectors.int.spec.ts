import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';
import type { VectorRecord } from '@conclave/ports';
import { describeVectors } from '@conclave/ports/suites';
import { TcpProxy } from '@conclave/test-support';
import { startChroma, stackEnvironment } from '@conclave/test-support/real-servers';
import { ChromaVectors, type ChromaOptions } from './chroma-vectors.js';

/** The real Chroma shared by int specs: CHROMA_URL, else the one started by `npm run stack -- up --only chroma`. */
function realServer(): string {
  const said: Record<string, string | undefined> = { ...stackEnvironment(), ...process.env };
  const { CHROMA_URL: url } = said;
  if (!url) throw new Error('These tests need ChromaDB: run `npm run stack -- up --only chroma`, or set CHROMA_URL.');
  return url;
}

jest.setTimeout(60_000);

const open = (namespace: string, more: Partial<ChromaOptions> = {}) =>
  new ChromaVectors({ url: realServer(), namespace, refreshMs: 0, ...more });
const newNamespace = () => `test-${randomUUID()}:`;

describeVectors('ChromaVectors', {
  open: async () => {
    const namespace = newNamespace();
    const vectors = open(namespace);
    const others: ChromaVectors[] = [];
    return {
      vectors,
      another: async () => {
        const other = open(namespace);
        others.push(other);
        return other;
      },
      dispose: async () => {
        await vectors.removeAll();
        await Promise.all([vectors, ...others].map((one) => one.close()));
      },
    };
  },
});

const scope = { tenant: 'acme', collection: 'facts' };
const record = (id: string): VectorRecord => ({ id, vector: Float32Array.of(1, 0, 0.5), text: id, metadata: { k: id } });

describe('vectors in Chroma', () => {
  const namespace = newNamespace();
  const closing: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
  });
  afterAll(async () => {
    const vectors = open(namespace);
    await vectors.removeAll();
    await vectors.close();
  });
  const opened = (more: Partial<ChromaOptions> = {}): ChromaVectors => {
    const vectors = open(namespace, more);
    closing.push(vectors);
    return vectors;
  };

  it('use cosine distance, in a collection with a descriptive name', async () => {
    await opened().create({ tenant: 'acme', collection: 'Moe fact_cache' }, 3);
    const reply = await fetch(`${realServer()}/api/v2/tenants/default_tenant/databases/default_database/collections`);
    const all = (await reply.json()) as { name: string; metadata: object; configuration_json: { hnsw: { space: string } } }[];
    const own = all.find(({ metadata }) => (metadata as { conclave?: unknown }).conclave === namespace);
    expect(own!.name).toMatch(/^c-moe-fact-cache-[0-9a-f]{40}$/);
    expect(own!.configuration_json.hnsw.space).toBe('cosine');
  });

  it('survive a kill of the server: unavailable in the meantime, then complete again', async () => {
    const server = await startChroma();
    try {
      const vectors = opened({ url: server.url });
      await vectors.create(scope, 3);
      await vectors.upsert(scope, [record('before')]);
      await server.kill();
      await expect(vectors.upsert(scope, [record('lost')])).rejects.toMatchObject({ code: 'VECTORS_UNAVAILABLE', retriable: true });
      await expect(vectors.query(scope, { vector: Float32Array.of(1, 0, 0), limit: 1 })).rejects.toMatchObject({
        code: 'VECTORS_UNAVAILABLE',
      });
      expect(await vectors.health()).toContain('ECONNREFUSED');
      await server.restart();
      await vectors.upsert(scope, [record('after')]);
      expect((await vectors.get(scope, ['before', 'lost', 'after'])).map(({ id }) => id)).toEqual(['before', 'after']);
      expect(await vectors.health()).toBeNull();
    } finally {
      await server.destroy();
    }
  });

  it('survive connections that are cut between two calls', async () => {
    const { port, hostname } = new URL(realServer());
    const proxy = await TcpProxy.open({ target: { host: hostname, port: Number(port) } });
    closing.push(proxy);
    const vectors = opened({ url: `http://127.0.0.1:${proxy.port}` });
    const own = { tenant: 'acme', collection: 'cut' };
    await vectors.create(own, 3);
    for (let n = 0; n < 5; n += 1) {
      proxy.cut();
      await vectors.upsert(own, [record(`r${n}`)]);
    }
    expect(await vectors.count(own)).toBe(5);
  });

  it('fail with VECTORS_UNAVAILABLE for a missing database', async () => {
    const vectors = opened({ chromaDatabase: 'nowhere' });
    expect(await vectors.health()).toContain('database');
    await expect(vectors.create(scope, 3)).rejects.toMatchObject({ code: 'VECTORS_UNAVAILABLE' });
  });

  it('are removed only together with a namespace', async () => {
    const vectors = open('');
    closing.push(vectors);
    await expect(vectors.removeAll()).rejects.toThrow('namespace');
  });
});
