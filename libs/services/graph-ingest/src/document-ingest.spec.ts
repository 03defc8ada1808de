import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { collectionsSetting, documentSetting, Failure, KnowledgeProposed, makeEvent, type StoredDocument } from '@conclave/contracts';
import { openMetrics, type Logger } from '@conclave/platform';
import {
  documentsChangedSince,
  documentsCollection,
  documentsTag,
  MemoryBlobs,
  MemoryDocuments,
  MemoryStores,
  MemoryVectorStore,
  type DocumentReader,
  type Embedder,
  type Vectors,
} from '@conclave/ports';
import { DocumentIngest } from './document-ingest.js';

const tenant = 'a';
const id = 'doc_1';
const long = Array.from({ length: 400 }, (_, n) => `Sentence ${n} tells about harbours and the ice that is in them.`).join(' ');
const live = new AbortController().signal;

/** One dimension per letter, so that texts with the same letters are near. */
const embedder: Embedder = {
  id: 'letters@1',
  dimension: 26,
  embed: async (texts) =>
    texts.map((text) => {
      const vector = new Float32Array(26).fill(0.01);
      for (const letter of text.toLowerCase()) {
        const at = letter.charCodeAt(0) - 97;
        if (at >= 0 && at < 26) vector[at]! += 1;
      }
      const length = Math.hypot(...vector);
      return vector.map((value) => value / length);
    }),
  health: async () => null,
  close: async () => undefined,
};
const scope = { tenant, collection: documentsCollection('manuals', embedder) };

async function world(text = long, over: Partial<StoredDocument> = {}) {
  const stores = new MemoryStores();
  const blobs = new MemoryBlobs();
  const vectors = new MemoryVectorStore().connect();
  const { state } = stores.connect('one');
  const body = Buffer.from(text);
  const sha256 = createHash('sha256').update(body).digest('hex');
  await blobs.put(body);
  const record: StoredDocument = {
    id,
    collection: 'manuals',
    name: 'ice.md',
    mime: 'text/markdown',
    bytes: body.byteLength,
    sha256,
    metadata: { year: '2025' },
    status: 'queued',
    take: 1,
    title: null,
    done: 0,
    total: null,
    problem: null,
    notices: [],
    embedder: null,
    createdAt: 1,
    updatedAt: 1,
    ...over,
  };
  const name = documentSetting(tenant, 'manuals', id);
  await state.settings.write(collectionsSetting(tenant), 0, { collections: [{ name: 'manuals', description: 'x', createdAt: 1 }] });
  await state.settings.write(name, 0, record);
  const errors: unknown[] = [];
  const quiet = () => undefined;
  const logger: Logger = {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: (_line, fields) => void errors.push(fields),
    child: () => logger,
  };
  const metrics = openMetrics();
  const read = async () => (await state.settings.read(name))!.value as StoredDocument;
  const change = async (next: Partial<StoredDocument>) => {
    const { version, value } = (await state.settings.read(name))!;
    await state.settings.write(name, version, { ...(value as StoredDocument), ...next });
  };
  const worker = (parts: { reader?: DocumentReader | null; vectors?: Vectors | null; embedder?: Embedder | null } = {}) => {
    const has = <K extends keyof typeof parts>(key: K, usual: NonNullable<(typeof parts)[K]>) => (key in parts ? parts[key]! : usual);
    return new DocumentIngest(
      state,
      blobs,
      has('reader', new MemoryDocuments()),
      has('vectors', vectors),
      has('embedder', embedder),
      logger,
      metrics,
    );
  };
  const event = (take = 1) =>
    makeEvent(
      KnowledgeProposed,
      { id: `${id}/${take}`, runId: id, source: 'gateway', time: 1 },
      {
        kind: 'document',
        tenant,
        actor: 'me',
        text: '',
        about: id,
        proposedAt: 1,
        document: { collection: 'manuals', id, name: 'ice.md', mime: 'text/markdown', blob: sha256, metadata: { year: '2025' } },
      },
    );
  return { state, blobs, vectors, worker, event, read, change, record, errors, metrics };
}

/** The object with one method replaced. */
const with_ = <T extends object>(whole: T, method: keyof T, other: (...args: never[]) => unknown): T =>
  new Proxy(whole, { get: (target, key) => (key === method ? other : bound(target, key)) });
const bound = (target: object, key: PropertyKey): unknown => {
  const member: unknown = Reflect.get(target, key);
  return typeof member === 'function' ? (member.bind(target) as unknown) : member;
};

describe('an uploaded document', () => {
  it('invalidates the answers that were cached without it, but only those of its tenant', async () => {
    const { worker, event, state } = await world();
    const keep = (of: string) =>
      state.caches.write({ tenant: of, key: 'answer/1', value: 'Nobody knows.', ttlMs: 60_000, tags: [documentsTag] });
    await Promise.all([keep(tenant), keep('b')]);
    await worker().ingest(event(), live);
    expect(await state.caches.read(tenant, 'answer/1')).toBeNull();
    expect(await state.caches.read('b', 'answer/1')).toMatchObject({ value: 'Nobody knows.' });
  });

  it('is read, cut, embedded and found, with its metadata', async () => {
    const { worker, event, read, vectors, metrics } = await world('# Ice\n\nIt freezes.\n\n## Thickness\n\nA metre of zzz.');
    expect(await worker().ingest(event(), live)).toEqual([]);
    expect(await read()).toMatchObject({ status: 'ready', done: 2, total: 2, problem: null, embedder: 'letters@1' });
    const [vector] = await embedder.embed(['zzz'], { signal: live });
    const { hits } = await vectors.query(scope, { vector: vector!, limit: 1 });
    expect(hits[0]).toMatchObject({
      id: `${id}#1`,
      metadata: { document: id, collection: 'manuals', name: 'ice.md', heading: 'Ice / Thickness', n: 1, year: '2025' },
    });
    expect(hits[0]!.text).toContain('A metre of zzz.');
    expect(await metrics.text()).toContain('documents_ingested_total{outcome="ready"} 1');
  });

  it('that is a table is cut into rows below its head, by its name', async () => {
    const rows = Array.from({ length: 60 }, (_, n) => `seal ${n};${n}`).join('\n');
    const { worker, event, vectors } = await world(`part;quantity\n${rows}`);
    const { data, ...about } = event();
    const table = { ...about, data: { ...data, document: { ...data.document!, name: 'stock.csv', mime: 'text/plain' } } };
    await worker().ingest(table, live);
    const [vector] = await embedder.embed(['seal'], { signal: live });
    const { hits } = await vectors.query(scope, { vector: vector!, limit: 5 });
    expect(hits.map(({ text }) => text.split('\n')[0])).toEqual(['part;quantity', 'part;quantity']);
  });

  it('changes nothing if its record is redelivered', async () => {
    const { worker, event, vectors, read } = await world();
    await worker().ingest(event(), live);
    const [count, before] = [await vectors.count(scope), await read()];
    expect(count).toBeGreaterThan(20);
    expect(await worker({ embedder: null }).ingest(event(), live)).toEqual([]);
    expect([await vectors.count(scope), await read()]).toEqual([count, before]);
  });

  it('continues where a process that died stopped', async () => {
    const { worker, event, vectors, read } = await world(long.repeat(4));
    let batches = 0;
    const dying = with_(embedder, 'embed', (texts: readonly string[], options: { signal: AbortSignal }) => {
      batches += 1;
      // Acts like a killed process: nothing is written after the first batch.
      return batches > 1 ? new Promise(() => undefined) : embedder.embed(texts, options);
    });
    void worker({ embedder: dying }).ingest(event(), live);
    while (batches < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(await read()).toMatchObject({ status: 'embedding', done: 32 });
    let embedded = 0;
    const counting = with_(embedder, 'embed', (texts: readonly string[], options: { signal: AbortSignal }) => {
      embedded += texts.length;
      return embedder.embed(texts, options);
    });
    expect(await worker({ embedder: counting }).ingest(event(), live)).toEqual([]);
    const { status, total, done } = await read();
    expect([status, done, embedded]).toEqual(['ready', total, total! - 32]);
    expect(await vectors.count(scope)).toBe(total);
  });

  it('waits in the log while vectors or the embedder are unavailable, says so, and catches up', async () => {
    const { worker, event, read, vectors } = await world();
    const away = with_(vectors, 'upsert', () => Promise.reject(new Failure('VECTORS_UNAVAILABLE')));
    for (let again = 0; again < 3; again += 1)
      expect(await worker({ vectors: away }).ingest(event(), live)).toEqual({ deferMs: expect.any(Number) });
    expect(await read()).toMatchObject({ status: 'embedding', problem: expect.stringContaining('vector store does not answer') });
    const down = with_(embedder, 'embed', () => Promise.reject(new Failure('PROVIDER_UNREACHABLE', undefined, { retryAfterMs: 77 })));
    expect(await worker({ embedder: down }).ingest(event(), live)).toEqual({ deferMs: 77 });
    expect(await worker().ingest(event(), live)).toEqual([]);
    expect(await read()).toMatchObject({ status: 'ready', problem: null });
  });

  it('is handed back when the process stops', async () => {
    const { worker, event, read } = await world();
    const stop = new AbortController();
    const stopping = with_(embedder, 'embed', () => {
      stop.abort();
      return Promise.reject(new Failure('CALL_CANCELLED'));
    });
    expect(await worker({ embedder: stopping }).ingest(event(), stop.signal)).toEqual({ deferMs: expect.any(Number) });
    expect((await read()).status).toBe('embedding');
  });

  it.each([
    ['of a kind that is not read', new Failure('DOCUMENT_UNSUPPORTED'), 'cannot be read'],
    ['that is broken', new Failure('DOCUMENT_UNREADABLE', 'It is encrypted.'), 'It is encrypted.'],
    ['that meets a bug', new TypeError('x is not a function'), 'unexpected'],
  ])('%s ends with a sentence, and no record is dead-lettered', async (_what, error, sentence) => {
    const { worker, event, read, errors } = await world();
    const reader = { read: () => Promise.reject(error), close: () => Promise.resolve() };
    expect(await worker({ reader }).ingest(event(), live)).toEqual([]);
    expect(await read()).toMatchObject({ status: 'failed', problem: expect.stringContaining(sentence) });
    expect(errors).toHaveLength(error instanceof Failure ? 0 : 1);
    expect(await worker().ingest(event(), live)).toEqual([]);
    expect((await read()).status).toBe('failed');
  });

  it('without text, or without its bytes, ends too', async () => {
    const empty = await world(' \n ');
    await empty.worker().ingest(empty.event(), live);
    expect(await empty.read()).toMatchObject({ status: 'failed' });
    const lost = await world(long, { sha256: 'f'.repeat(64) });
    expect(await lost.worker().ingest(lost.event(), live)).toEqual([]);
    expect(await lost.read()).toMatchObject({ status: 'failed', problem: expect.stringContaining('Send the document again') });
  });

  it('says so when no store for vectors is configured', async () => {
    const { worker, event, read } = await world();
    expect(await worker({ vectors: null, embedder: null }).ingest(event(), live)).toEqual([]);
    expect(await read()).toMatchObject({ status: 'failed', problem: expect.stringContaining('stores.chroma') });
  });

  it('leaves outages of our own stores to the log', async () => {
    const { worker, event, blobs } = await world();
    blobs.get = () => Promise.reject(new Failure('STORE_UNAVAILABLE'));
    await expect(worker().ingest(event(), live)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('leaves nothing behind if it is removed at any moment', async () => {
    const { worker, event, vectors, change, state } = await world(long.repeat(4));
    let batches = 0;
    const removing = with_(embedder, 'embed', async (texts: readonly string[], options: { signal: AbortSignal }) => {
      batches += 1;
      if (batches === 2) {
        await change({ status: 'deleted' });
        await vectors.delete(scope, { where: { document: id } });
      }
      return embedder.embed(texts, options);
    });
    const before = await state.now();
    expect(await worker({ embedder: removing }).ingest(event(), live)).toEqual([]);
    expect([batches, await vectors.count(scope)]).toEqual([2, 0]);
    // What was written after the removal could be found until now.
    expect(await documentsChangedSince(state.caches, tenant, before)).toBe(true);
    expect(await worker().ingest(event(), live)).toEqual([]);
    expect(await vectors.count(scope)).toBe(0);
  });

  it('is not processed for a deleted collection, nor for an earlier upload', async () => {
    const { worker, event, vectors, state, read, change } = await world();
    await change({ take: 2 });
    expect(await worker().ingest(event(1), live)).toEqual([]);
    expect(await read()).toMatchObject({ status: 'queued', take: 2 });
    await state.settings.write(collectionsSetting(tenant), 1, { collections: [] });
    expect(await worker().ingest(event(2), live)).toEqual([]);
    expect(await vectors.count(scope)).toBe(0);
  });

  it('that is uploaded again for another embedder is processed from the start', async () => {
    const { worker, event, change, read, vectors } = await world(long, { done: 5, total: 3, embedder: 'other@1' });
    await vectors.create(scope, 26);
    await vectors.upsert(scope, [{ id: `${id}#999`, vector: new Float32Array(26).fill(1), text: 'stale', metadata: { document: id } }]);
    await change({ take: 2 });
    await worker().ingest(event(2), live);
    expect((await read()).status).toBe('ready');
    expect(await vectors.get(scope, [`${id}#999`])).toEqual([]);
    expect(await vectors.count(scope)).toBe((await read()).total);
  });

  it('whose record becomes a dead letter fails with what to do, and leaves no passages', async () => {
    for (const [reason, sentence] of [
      ['killed_process', /Processes died .* Send it again; if that happens again, split it/],
      ['failed', /because of a defect; .* Send it again/],
      ['undecodable', /could not be read\. Send it again/],
    ] as const) {
      const { worker, event, read, change, vectors, metrics } = await world();
      await worker().ingest(event(), live);
      // As a process leaves it that died after its first passages.
      await change({ status: 'embedding', done: 1 });
      await worker().dead(event(), reason);
      expect(await read()).toMatchObject({ status: 'failed', done: 0, problem: expect.stringMatching(sentence) });
      expect(await vectors.count(scope)).toBe(0);
      expect(await metrics.text()).toContain('documents_ingested_total{outcome="failed"} 1');
      expect(await worker().ingest(event(), live)).toEqual([]);
      expect(await read()).toMatchObject({ status: 'failed' });
    }
  });

  it('that was given up is read again by a re-drive, but not for an earlier upload', async () => {
    const { worker, event, read, change, vectors } = await world();
    await worker().dead(event(), 'killed_process');
    expect(await worker().ingest(event(), live, true)).toEqual([]);
    const { status, done, total, problem } = await read();
    expect([status, problem, done]).toEqual(['ready', null, total]);
    expect(await vectors.count(scope)).toBe(total);
    await change({ status: 'failed', problem: 'It is encrypted.', take: 2 });
    expect(await worker().ingest(event(1), live, true)).toEqual([]);
    expect(await read()).toMatchObject({ status: 'failed', problem: 'It is encrypted.' });
  });

  it('that a re-drive cannot read either fails again', async () => {
    const { worker, event, read } = await world();
    await worker().dead(event(), 'failed');
    const reader = { read: () => Promise.reject(new Failure('DOCUMENT_UNREADABLE', 'It is encrypted.')), close: () => Promise.resolve() };
    expect(await worker({ reader }).ingest(event(), live, true)).toEqual([]);
    expect(await read()).toMatchObject({ status: 'failed', problem: expect.stringContaining('It is encrypted.') });
  });

  it('stays ready when another record of its proposal becomes a dead letter, and is none of the business of an earlier upload', async () => {
    const { worker, event, read, change, vectors } = await world();
    await worker().ingest(event(), live);
    const [before, count] = [await read(), await vectors.count(scope)];
    await worker().dead(event(), 'killed_process');
    expect([await read(), await vectors.count(scope)]).toEqual([before, count]);
    await change({ status: 'queued', take: 2 });
    await worker().dead(event(1), 'killed_process');
    expect(await read()).toMatchObject({ status: 'queued', take: 2, problem: null });
  });

  it('that is given up while another process reads it again is never ready without its passages', async () => {
    const { worker, event, read, vectors } = await world();
    let givenUp = false;
    const between = with_(vectors, 'upsert', async (...given: Parameters<Vectors['upsert']>) => {
      await vectors.upsert(...given);
      if (!givenUp) await worker().dead(event(), 'killed_process');
      givenUp = true;
    });
    expect(await worker({ vectors: between }).ingest(event(), live)).toEqual([]);
    expect(await read()).toMatchObject({ status: 'failed', problem: expect.stringContaining('Processes died again and again') });
    expect(await vectors.count(scope)).toBe(0);
  });
});
