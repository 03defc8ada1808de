import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  CollectionList,
  CollectionView,
  documentSetting,
  DocumentList,
  DocumentView,
  Failure,
  type KnowledgeProposed,
  type StoredDocument,
} from '@conclave/contracts';
import {
  documentsChangedSince,
  documentsCollection,
  documentsTag,
  MemoryBlobs,
  MemoryVectorStore,
  type Embedder,
  type Vectors,
} from '@conclave/ports';
import { twoTenants, World } from '../__fixtures__/world.js';
import type { PassageSearch } from '../options.js';
import { DocumentRecords } from './document-records.js';

const embedder = {
  id: 'fake@1',
  dimension: 2,
  embed: async () => [],
  health: async () => null,
  close: async () => undefined,
} satisfies Embedder;

let world: World;
/** Searches for passages, and the results to return. */
const searched: Parameters<PassageSearch>[0][] = [];
const search: PassageSearch = async (wanted) => {
  searched.push(wanted);
  const found = { document: 'doc_1', title: 'Ice', section: 'Ice / Winter', text: 'It freezes.' };
  return {
    passages: [
      { ...found, distance: 0.25 },
      { ...found, distance: null },
    ],
    unknownKeys: ['yeer'],
  };
};
let vectors: Vectors;
let blobs: MemoryBlobs;
beforeEach(async () => {
  vectors = new MemoryVectorStore().connect();
  blobs = new MemoryBlobs();
  world = await World.open({
    keys: twoTenants,
    parts: { blobs, vectors, embedder, passages: search },
    limits: { maxDocumentBytes: 200_000, maxBodyBytes: 10_000 },
    template: { capabilities: ['research', 'collections'], collections: [] },
  });
});
afterEach(() => world.close());

type Reply = { readonly status: number; readonly body: Record<string, unknown> & { error?: { code: string; message: string } } };
const call = async (
  method: string,
  path: string,
  body?: RequestInit['body'],
  headers: Record<string, string> = {},
  key = 'sk-a',
): Promise<Reply> => {
  const response = await fetch(`${world.url}/v1/collections${path}`, {
    method,
    headers: { 'x-api-key': key, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
};
const json = { 'content-type': 'application/json' };
const create = (name: string, description = 'About ice.', key = 'sk-a') =>
  call('POST', '', JSON.stringify({ name, description }), json, key);
const upload = (document: object, key = 'sk-a') => call('POST', '/manuals/documents', JSON.stringify(document), json, key);
const proposed = () => world.events<KnowledgeProposed>('knowledge.ingest');
/** Which ingestion of its document a proposal asks for. */
const takeOf = ({ id }: { readonly id: string }): number => Number(id.split('/')[1]);
const ice = { name: 'ice.md', mime: 'text/markdown', text: '# Ice\nIt freezes.', metadata: { year: '2025' } };
/** Writes progress as graph-ingest does. */
const progress = async (id: string, change: Partial<StoredDocument>, tenant = 'a') => {
  const name = documentSetting(tenant, 'manuals', id);
  const { version, value } = (await world.stores.state.settings.read(name))!;
  await world.stores.state.settings.write(name, version, { ...(value as StoredDocument), ...change });
};

describe('collections', () => {
  it('are created, listed and removed, separately for each tenant', async () => {
    const made = await create('manuals');
    expect([made.status, CollectionView.parse(made.body)]).toEqual([
      201,
      expect.objectContaining({ name: 'manuals', description: 'About ice.' }),
    ]);
    expect((await create('manuals')).status).toBe(201);
    expect(await create('manuals', 'Something else.')).toMatchObject({ status: 409, body: { error: { code: 'COLLECTION_EXISTS' } } });
    await create('law', 'Laws.');
    expect(CollectionList.parse((await call('GET', '')).body).data.map(({ name }) => name)).toEqual(['law', 'manuals']);
    expect(CollectionList.parse((await call('GET', '', undefined, {}, 'sk-b')).body).data).toEqual([]);
    expect(await call('DELETE', '/manuals', undefined, {}, 'sk-b')).toMatchObject({
      status: 404,
      body: { error: { code: 'COLLECTION_NOT_FOUND' } },
    });
    expect((await call('DELETE', '/manuals')).status).toBe(200);
    expect((await call('DELETE', '/manuals')).status).toBe(404);
    expect(CollectionList.parse((await call('GET', '')).body).data.map(({ name }) => name)).toEqual(['law']);
  });

  it.each([
    ['../x', 'x'],
    ['Ice', 'x'],
    ['', 'x'],
    ['ice', ''],
    ['ice', 'x'.repeat(501)],
    ['a'.repeat(65), 'x'],
  ])('refuse the name %j with the description %j', async (name, description) => {
    expect((await create(name, description)).status).toBe(400);
  });

  it('can be created by many requests at the same time, up to fifty', async () => {
    const made = await Promise.all(Array.from({ length: 4 }, (_, n) => create(`c${n}`)));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    for (let n = 4; n < 50; n += 1) await create(`c${n}`);
    expect(await create('c50')).toMatchObject({ status: 409, body: { error: { code: 'COLLECTION_FULL' } } });
  });

  it('are offered only to runs of their tenant; without one the capability is not offered', async () => {
    const asked = async (key: string) => {
      await world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, { headers: { 'x-api-key': key } });
      const { capabilities, collections, version } = world.requested().at(-1)!.data.template;
      return { capabilities, collections, version };
    };
    expect(await asked('sk-b')).toMatchObject({ capabilities: ['research'], collections: [] });
    await create('manuals');
    const own = await asked('sk-a');
    expect(own).toMatchObject({ capabilities: ['research', 'collections'], collections: [{ name: 'manuals', description: 'About ice.' }] });
    const foreign = await asked('sk-b');
    expect(foreign).toMatchObject({ capabilities: ['research'], collections: [] });
    expect(own.version).not.toBe(foreign.version);
    expect((await asked('sk-a')).version).toBe(own.version);
  });

  it('are refused when no store for them is configured', async () => {
    const bare = await World.open({ keys: twoTenants });
    try {
      const response = await bare.post('/v1/collections', { name: 'x', description: 'y' }, { headers: { 'x-api-key': 'sk-a' } });
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('stores.chroma') } });
    } finally {
      await bare.close();
    }
  });
});

describe('a document', () => {
  beforeEach(async () => void (await create('manuals')));

  it('is accepted as JSON: bytes, record, then the event', async () => {
    const { status, body } = await upload(ice);
    const view = DocumentView.parse(body);
    expect([status, view]).toEqual([
      202,
      expect.objectContaining({ name: 'ice.md', status: 'queued', chunks: { done: 0, total: null }, metadata: { year: '2025' } }),
    ]);
    const [event] = proposed();
    expect(event).toMatchObject({
      id: expect.stringMatching(new RegExp(`^${view.id}/\\d+$`)),
      data: {
        kind: 'document',
        tenant: 'a',
        about: view.id,
        text: '',
        document: { collection: 'manuals', id: view.id, name: 'ice.md', mime: 'text/markdown', metadata: { year: '2025' } },
      },
    });
    expect((await blobs.get({ sha256: event!.data.document!.blob, bytes: view.bytes })).toString()).toBe(ice.text);
    expect(JSON.stringify(world.lines)).not.toContain('freezes');
  });

  it('is accepted as a form that is larger than the limit for JSON bodies', async () => {
    const form = new FormData();
    const bytes = Buffer.alloc(150_000, 'ice ');
    form.append('file', new File([bytes], 'Größe des Eises.txt', { type: 'text/plain' }));
    form.append('metadata', '{"year":"2024"}');
    const { status, body } = await call('POST', '/manuals/documents', form);
    expect([status, body]).toEqual([
      202,
      expect.objectContaining({ name: 'Größe des Eises.txt', mime: 'text/plain', bytes: 150_000, metadata: { year: '2024' } }),
    ]);
  });

  it('is accepted as raw bytes', async () => {
    const headers = {
      'content-type': 'application/pdf',
      'x-document-name': encodeURIComponent('Größe.pdf'),
      'x-document-metadata': '{"year":"2023"}',
    };
    const { body } = await call('POST', '/manuals/documents', Buffer.from('%PDF-1.7'), headers);
    expect(body).toMatchObject({ name: 'Größe.pdf', mime: 'application/pdf', bytes: 8, metadata: { year: '2023' } });
    const data = await call('POST', '/manuals/documents', '{"a":1}', { ...json, 'x-document-name': 'data.json' });
    expect(data.body).toMatchObject({ name: 'data.json', mime: 'application/json', bytes: 7 });
    const described = await call('POST', '/manuals/documents', 'x', {
      'content-type': 'text/plain',
      'x-document-name': 'a',
      'x-document-metadata': 'year: 2023',
    });
    expect(described).toMatchObject({
      status: 400,
      body: { error: { param: 'x-document-metadata', message: expect.stringContaining('JSON object of texts') } },
    });
    const ignored = await call('POST', '/manuals/documents', '{"name":"own.md","text":"x"}', {
      ...json,
      'x-document-metadata': '{"year":"2023"}',
    });
    expect(ignored).toMatchObject({
      status: 400,
      body: { error: { param: 'x-document-metadata', message: expect.stringContaining('`metadata`') } },
    });
    const unnamed = await call('POST', '/manuals/documents', '{"name":"own.md","text":"# Own"}', { ...json, 'x-document-name': '' });
    expect(unnamed.body).toMatchObject({ name: 'own.md', bytes: 5 });
  });

  it.each([
    ['without a name', { text: 'x' }, 'name'],
    ['without content', { name: 'a', text: '' }, 'empty'],
    ['with control characters in its name', { name: 'a\nb', text: 'x' }, 'control'],
    ['with a reserved metadata key', { name: 'a', text: 'x', metadata: { document: 'other' } }, 'must not use'],
    ['with metadata without a name', { name: 'a', text: 'x', metadata: { '': 'y' } }, '`metadata` must have names of'],
    ['with metadata that is not text', { name: 'a', text: 'x', metadata: { n2: 7 } }, 'texts'],
    [
      'with too much metadata',
      { name: 'a', text: 'x', metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'v'])) },
      '16',
    ],
  ])('is refused %s', async (_what, document, sentence) => {
    const { status, body } = await upload(document);
    expect([status, body.error!.message]).toEqual([400, expect.stringContaining(sentence)]);
    expect(proposed()).toEqual([]);
  });

  it('is refused when it is too large, in every way of sending it, and when its form is malformed', async () => {
    const large = 'x'.repeat(200_001);
    const form = new FormData();
    form.append('file', new File([large], 'a.txt'));
    const replies = [
      await upload({ name: 'a', text: large }),
      await call('POST', '/manuals/documents', form),
      await call('POST', '/manuals/documents', large, { 'content-type': 'text/plain', 'x-document-name': 'a.txt' }),
      await call('POST', '/manuals/documents', 'x'.repeat(300_000), { 'content-type': 'text/plain', 'x-document-name': 'a.txt' }),
    ];
    expect(replies.map(({ status, body }) => [status, body.error!.code])).toEqual(replies.map(() => [413, 'DOCUMENT_TOO_LARGE']));
    const broken = { 'content-type': 'multipart/form-data; boundary=x' };
    expect(await call('POST', '/manuals/documents', '--x\r\nnonsense', broken)).toMatchObject({ status: 400 });
    expect(await call('POST', '/manuals/documents', '--x--\r\n', broken)).toMatchObject({ status: 400 });
    expect(await call('POST', '/manuals/documents', 'x', { 'content-type': 'text/plain' })).toMatchObject({ status: 400 });
    expect(await call('POST', '/nothing/documents', 'x', { ...json })).toMatchObject({ status: 404 });
  });

  it('shows its progress and why it failed', async () => {
    const { id } = (await upload(ice)).body as { id: string };
    await progress(id, { status: 'embedding', done: 3, total: 9, title: 'Ice' });
    expect((await call('GET', `/manuals/documents/${id}`)).body).toMatchObject({
      status: 'embedding',
      title: 'Ice',
      chunks: { done: 3, total: 9 },
    });
    await progress(id, { status: 'failed', problem: 'It is encrypted.' });
    expect((await call('GET', `/manuals/documents/${id}`)).body).toMatchObject({ status: 'failed', problem: 'It is encrypted.' });
    expect(await call('GET', '/manuals/documents/doc_none')).toMatchObject({
      status: 404,
      body: { error: { code: 'DOCUMENT_NOT_FOUND' } },
    });
  });

  it('that is sent again keeps its id: announced again while it waits, left alone when ready, restarted when it failed', async () => {
    const first = (await upload(ice)).body as { id: string };
    expect((await upload(ice)).body).toMatchObject({ id: first.id });
    const take = takeOf(proposed()[0]!);
    expect(proposed().map(({ id }) => id)).toEqual([`${first.id}/${take}`, `${first.id}/${take}`]);
    await progress(first.id, { status: 'ready', done: 1, total: 1, embedder: 'fake@1' });
    expect((await upload(ice)).body).toMatchObject({ id: first.id, status: 'ready' });
    expect(proposed()).toHaveLength(2);
    await progress(first.id, { embedder: 'older@1' });
    expect((await upload(ice)).body).toMatchObject({ status: 'queued' });
    await progress(first.id, { status: 'failed', problem: 'x' });
    expect((await upload(ice)).body).toMatchObject({ status: 'queued', problem: null });
    expect((await upload({ ...ice, metadata: { year: '2026' } })).body).toMatchObject({ status: 'queued', metadata: { year: '2026' } });
    expect(
      proposed()
        .map(({ id }) => id)
        .slice(2),
    ).toEqual([1, 2, 3].map((n) => `${first.id}/${take + n}`));
    expect(((await upload({ ...ice, text: 'other' })).body as { id: string }).id).not.toBe(first.id);
  });

  it('whose event was lost is announced by the repeat', async () => {
    world.publishFails = true;
    expect((await upload(ice)).status).toBe(500);
    world.publishFails = false;
    await upload(ice);
    expect(proposed()).toMatchObject([{ data: { kind: 'document' } }]);
  });

  it('is listed in pages', async () => {
    for (const name of ['a', 'b', 'c']) await upload({ name, text: name });
    const first = DocumentList.parse((await call('GET', '/manuals/documents?limit=2')).body);
    const second = DocumentList.parse((await call('GET', `/manuals/documents?limit=2&after=${first.nextAfter}`)).body);
    expect([first.data.length, second.data.length, second.nextAfter]).toEqual([2, 1, null]);
    expect(new Set([...first.data, ...second.data].map(({ name }) => name))).toEqual(new Set(['a', 'b', 'c']));
    expect((await call('GET', '/manuals/documents?limit=0')).status).toBe(400);
  });

  it('invalidates the cached answers when it is removed, and so does removing its collection', async () => {
    const { caches } = world.stores.state;
    const keep = () => caches.write({ tenant: 'a', key: 'answer/1', value: 'As the manual says.', ttlMs: 60_000, tags: [documentsTag] });
    const { id } = (await upload(ice)).body as { id: string };
    for (const path of [`/manuals/documents/${id}`, '/manuals']) {
      await keep();
      const before = await world.stores.state.now();
      expect((await call('DELETE', path)).status).toBe(200);
      expect(await caches.read('a', 'answer/1')).toBeNull();
      // Runs that are open now may have found the document: their answers will not be cached either.
      expect(await documentsChangedSince(caches, 'a', before)).toBe(true);
    }
  });

  it('is removed with its chunks, can be removed again after a store outage, and is new when it is uploaded again', async () => {
    const { id } = (await upload(ice)).body as { id: string };
    const scope = { tenant: 'a', collection: documentsCollection('manuals', embedder) };
    await vectors.create(scope, 2);
    const chunk = (name: string, document: string) => ({ id: name, vector: new Float32Array([1, 0]), text: 't', metadata: { document } });
    await vectors.upsert(scope, [chunk('one', id), chunk('two', 'another')]);
    const away = vectors.delete.bind(vectors);
    vectors.delete = () => Promise.reject(new Failure('VECTORS_UNAVAILABLE'));
    expect((await call('DELETE', `/manuals/documents/${id}`)).status).toBe(503);
    vectors.delete = away;
    expect((await call('GET', `/manuals/documents/${id}`)).status).toBe(404);
    expect((await call('DELETE', `/manuals/documents/${id}`)).status).toBe(200);
    expect((await vectors.get(scope, ['one', 'two'])).map((record) => record.id)).toEqual(['two']);
    expect(DocumentList.parse((await call('GET', '/manuals/documents')).body).data).toEqual([]);
    expect((await call('DELETE', `/manuals/documents/${id}`)).status).toBe(404);
    expect((await upload(ice)).body).toMatchObject({ id, status: 'queued' });
    expect(takeOf(proposed().at(-1)!)).toBeGreaterThan(takeOf(proposed()[0]!));
  });

  it.each(['/manuals', null])('leaves no record behind when it is removed (with its collection: %s)', async (path) => {
    const { settings } = world.stores.state;
    const { id } = (await upload({ ...ice, metadata: { patient: 'Jane' } })).body as { id: string };
    await progress(id, { status: 'ready', done: 1, total: 1, title: 'Ice', embedder: 'fake@1' });
    expect((await call('DELETE', path ?? `/manuals/documents/${id}`)).status).toBe(200);
    expect(await settings.list('documents/')).toEqual([]);
    expect(await settings.versions(documentSetting('a', 'manuals', id))).toEqual([]);
  });

  it('stays in the list when it is uploaded again while it is being removed', async () => {
    const { id } = (await upload(ice)).body as { id: string };
    const away = vectors.delete.bind(vectors);
    vectors.delete = async (...given) => {
      vectors.delete = away;
      await upload(ice);
      return vectors.delete(...given);
    };
    expect((await call('DELETE', `/manuals/documents/${id}`)).status).toBe(200);
    expect(DocumentList.parse((await call('GET', '/manuals/documents')).body).data).toMatchObject([{ id, status: 'queued' }]);
  });

  it('is removed with its collection and does not return with a collection of the same name', async () => {
    const { id } = (await upload(ice)).body as { id: string };
    const scope = { tenant: 'a', collection: documentsCollection('manuals', embedder) };
    await vectors.create(scope, 2);
    await call('DELETE', '/manuals');
    expect(await vectors.list('a')).toEqual([]);
    await create('manuals');
    expect((await call('GET', `/manuals/documents/${id}`)).status).toBe(404);
  });

  it('does not count as a run: many uploads at once are all accepted while a run takes the last place, and wait their turn', async () => {
    await world.close();
    const limits = { openRuns: 1, maxUploads: 2, maxWaitingUploads: 30 };
    world = await World.open({ keys: twoTenants, parts: { blobs, vectors, embedder }, limits });
    await create('manuals');
    const ask = () => world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, { headers: { 'x-api-key': 'sk-a' } });
    expect((await ask()).status).toBe(202);
    const sent = await Promise.all(Array.from({ length: 30 }, (_, n) => upload({ name: `${n}.txt`, text: `Text ${n}` })));
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(proposed().map(({ data }) => data.document!.name)).size).toBe(30);
    expect((await ask()).status).toBe(429);
  });

  it('is refused with a reason and a wait when more uploads wait than the gateway allows', async () => {
    await world.close();
    world = await World.open({ keys: twoTenants, parts: { blobs, vectors, embedder }, limits: { maxUploads: 1, maxWaitingUploads: 1 } });
    await create('manuals');
    /** An upload whose bytes are held back until it is released. */
    const slow = () => {
      let end = (): void => undefined;
      const body = new ReadableStream({
        start: (stream) => {
          stream.enqueue(Buffer.from('a'));
          end = () => stream.close();
        },
      });
      const headers = { 'x-api-key': 'sk-a', 'content-type': 'text/plain', 'x-document-name': 'a.txt' };
      const reply = fetch(`${world.url}/v1/collections/manuals/documents`, { method: 'POST', headers, body, duplex: 'half' });
      return { reply, end };
    };
    const [first, second, third] = [slow(), slow(), slow()];
    const refused = await Promise.race([first, second, third].map(async ({ reply }) => reply));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
    expect(await refused.json()).toMatchObject({ error: { code: 'UPLOADS_BUSY', message: expect.stringContaining('documents') } });
    for (const { end } of [first, second, third]) end();
    const statuses = (await Promise.all([first, second, third].map(({ reply }) => reply))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([202, 202, 429]);
  });

  it('does not exist for another tenant, even when that tenant has a collection of the same name', async () => {
    const { id } = (await upload(ice)).body as { id: string };
    expect((await upload(ice, 'sk-b')).status).toBe(404);
    await create('manuals', 'Others.', 'sk-b');
    expect((await call('GET', `/manuals/documents/${id}`, undefined, {}, 'sk-b')).status).toBe(404);
    expect((await call('DELETE', `/manuals/documents/${id}`, undefined, {}, 'sk-b')).status).toBe(404);
    expect((await call('GET', `/manuals/documents/${id}`)).status).toBe(200);
  });

  it('finds a place among many that come and go at the same time, up to the limit', async () => {
    const records = new DocumentRecords(world.stores.state);
    const ids = Array.from({ length: 12 }, (_, n) => `doc_7${String(n).padStart(3, '0')}`);
    await Promise.all(ids.map((id) => records.enter('a', 'manuals', id)));
    await Promise.all([...ids.slice(0, 6).map((id) => records.discard('a', 'manuals', id)), records.enter('a', 'manuals', 'doc_0abc')]);
    expect(await records.ids('a', 'manuals')).toEqual(['doc_0abc', ...ids.slice(6)]);
    for (let n = 100; n < 734; n += 1) await records.enter('a', 'manuals', `doc_7${n}`);
    await expect(records.enter('a', 'manuals', 'doc_7x')).rejects.toMatchObject({ code: 'COLLECTION_FULL' });
    await records.enter('a', 'manuals', ids[7]!);
    await records.enter('a', 'law', 'doc_7x');
  });
});

describe('a test query on a collection', () => {
  const query = (body: object, key = 'sk-a', name = 'manuals') => call('POST', `/${name}/query`, JSON.stringify(body), json, key);
  beforeEach(async () => {
    searched.length = 0;
    await create('manuals');
  });

  it('returns passages with their section and similarity, and calls no model', async () => {
    const { status, body } = await query({ query: ' When does it freeze? ', filters: { yeer: '2025' } });
    expect(status).toBe(200);
    const passage = { object: 'passage', document: 'doc_1', title: 'Ice', section: 'Ice / Winter', text: 'It freezes.' };
    expect(body).toEqual({
      object: 'list',
      data: [
        { ...passage, similarity: 0.75 },
        { ...passage, similarity: null },
      ],
      notes: ['No document has the filter "yeer".'],
    });
    expect(searched).toEqual([{ tenant: 'a', collection: 'manuals', query: 'When does it freeze?', limit: 5, filters: { yeer: '2025' } }]);
    expect([world.models.calls, world.runs()]).toEqual([[], []]);
  });

  it('finds nothing of another tenant or of a collection that does not exist', async () => {
    expect((await query({ query: 'x' }, 'sk-b')).status).toBe(404);
    expect((await query({ query: 'x' }, 'sk-a', 'other')).body.error?.code).toBe('COLLECTION_NOT_FOUND');
    expect((await query({ query: 'x' }, 'sk-nobody')).status).toBe(401);
    expect(searched).toEqual([]);
  });

  it.each<[string, object]>([
    ['query', {}],
    ['query', { query: '  ' }],
    ['query', { query: 'x'.repeat(4_001) }],
    ['limit', { query: 'x', limit: 51 }],
    ['filters', { query: 'x', filters: 'year' }],
    ['filters', { query: 'x', filters: { '': 'y' } }],
  ])('names the invalid field `%s`', async (param, body) => {
    expect(await query(body)).toMatchObject({ status: 400, body: { error: { param } } });
  });
});
