import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as z from 'zod';
import { accessKinds, csrfHeader, type KeyRole, routes, type StoredDocument, documentSetting } from '@conclave/contracts';
import { deadRecord, type Embedder, MemoryBlobs, MemoryGraphStore, MemoryVectorStore } from '@conclave/ports';
import { shippedPrompts } from '@conclave/strategies';
import type { PassageSearch } from '../options.js';
import { completed, twoTenants, World } from '../__fixtures__/world.js';

/** Things that belong to a tenant and have an id. */
type Kind =
  | 'run'
  | 'ended run'
  | 'answer'
  | 'response'
  | 'collection'
  | 'document'
  | 'insight'
  | 'entity'
  | 'contradiction'
  | 'key'
  | 'tenant'
  | 'dead letter'
  | 'template'
  | 'prompt'
  | 'skill';

type Route = (typeof routes)[number];

interface Row {
  /** The kind of thing that each id place of the route names. */
  readonly ids: Readonly<Record<string, Kind>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** It answers only auditors and admins. */
  readonly audit?: true;
  /** Data that all tenants share: the route answers admins of a tenant with 403, whatever the id. `listed`: open to every tenant. */
  readonly shared?: 'operator' | 'listed';
}

const shared = (place: string, kind: Kind, body: Row['body'] = {}): Row => ({ ids: { [place]: kind }, body, shared: 'operator' });
const skillText = '---\nname: tidy\ndescription: Tidies.\n---\nTidy: $ARGUMENTS';

/** Part of all data of the first tenant: no answer to the second tenant may contain it. */
const secret = 'quincequietly';

/** Each route that takes an id, with a request that its owner may send; requests that remove something come last. */
const rows: Readonly<Record<string, Row>> = {
  'GET /v1/runs/{id}': { ids: { id: 'run' } },
  'GET /v1/runs/{id}/events': { ids: { id: 'ended run' } },
  'GET /v1/events': { ids: { runs: 'ended run' } },
  'GET /v1/runs/{id}/cache': { ids: { id: 'run' } },
  'GET /v1/runs/{id}/facts': { ids: { id: 'run' } },
  'GET /v1/runs/{id}/records': { ids: { id: 'run' } },
  'GET /v1/runs/{id}/records/bodies': { ids: { id: 'run' }, audit: true },
  'POST /v1/runs/{id}/forks': { ids: { id: 'ended run' }, body: { step: 1 } },
  'POST /v1/runs/{id}/reruns': { ids: { id: 'ended run' }, body: { template: 'conclave' } },
  'POST /v1/runs/{id}/commands': { ids: { id: 'run' }, body: { command: 'steer', text: 'Shorter.' } },
  'POST /v1/feedback': { ids: { response_id: 'answer' }, body: { rating: 1 } },
  'GET /v1/knowledge/insights': { ids: { run: 'ended run' } },
  'GET /v1/knowledge/insights/{id}': { ids: { id: 'insight' } },
  'GET /v1/knowledge/entities/{id}': { ids: { id: 'entity' } },
  'POST /v1/responses': { ids: { previous_response_id: 'response' }, body: { model: 'conclave', input: 'And then?', background: true } },
  'GET /v1/responses/{id}': { ids: { id: 'response' } },
  'GET /v1/responses/{id}/input_items': { ids: { id: 'response' } },
  'POST /v1/responses/{id}/cancel': { ids: { id: 'response' } },
  'GET /v1/collections/{name}/documents': { ids: { name: 'collection' } },
  'GET /v1/collections/{name}/documents/{id}': { ids: { name: 'collection', id: 'document' } },
  'POST /v1/collections/{name}/documents': {
    ids: { name: 'collection' },
    body: { name: 'more.md', mime: 'text/markdown', text: '# More' },
  },
  'GET /v1/admin/keys/{id}': { ids: { id: 'key' } },
  'PATCH /v1/admin/keys/{id}': { ids: { id: 'key' }, body: { name: 'renamed' } },
  'POST /v1/admin/keys/{id}/rotate': { ids: { id: 'key' } },
  'POST /v1/admin/knowledge/quarantine/{id}': { ids: { id: 'contradiction' }, body: { accept: false } },
  'GET /v1/audit': { ids: { run: 'ended run' }, audit: true },
  'GET /v1/models/{id+}': { ids: { id: 'run' }, shared: 'listed' },
  'DELETE /v1/admin/caches/{layer}': { ids: { layer: 'run' }, shared: 'listed' },
  'PATCH /v1/admin/tenants/{id}': { ids: { id: 'tenant' }, body: { limits: null }, shared: 'operator' },
  'GET /v1/admin/dead-letters/{id}': { ids: { id: 'dead letter' }, shared: 'operator' },
  'POST /v1/admin/dead-letters/{id}/redrive': { ids: { id: 'dead letter' }, shared: 'operator' },
  'POST /v1/admin/dead-letters/{id}/discard': { ids: { id: 'dead letter' }, shared: 'operator' },
  'GET /v1/admin/templates/{id}': shared('id', 'template'),
  'PUT /v1/admin/templates/{id}': shared('id', 'template', { options: {} }),
  'POST /v1/admin/templates/{id}/check': shared('id', 'template', { options: {} }),
  'POST /v1/admin/templates/{id}/rollback': shared('id', 'template'),
  'GET /v1/admin/prompts/{name}': shared('name', 'prompt'),
  'PUT /v1/admin/prompts/{name}': shared('name', 'prompt', { text: 'Hello.' }),
  'POST /v1/admin/prompts/{name}/rollback': shared('name', 'prompt'),
  'GET /v1/admin/skills/{name}': shared('name', 'skill'),
  'PUT /v1/admin/skills/{name}': shared('name', 'skill', { text: skillText }),
  'POST /v1/admin/skills/{name}/approval': shared('name', 'skill', { approved: true, version: 1 }),
  'DELETE /v1/admin/skills/{name}': shared('name', 'skill'),
  'POST /v1/collections/{name}/query': { ids: { name: 'collection' }, body: { query: secret } },
  'DELETE /v1/runs/{id}': { ids: { id: 'ended run' } },
  'DELETE /v1/responses/{id}': { ids: { id: 'response' } },
  'DELETE /v1/collections/{name}/documents/{id}': { ids: { name: 'collection', id: 'document' } },
  'DELETE /v1/collections/{name}': { ids: { name: 'collection' } },
  'DELETE /v1/admin/keys/{id}': { ids: { id: 'key' } },
};

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
/** Places of ids in a route: parameters in its path, and fields of its body and its query that are named after something with an id. */
function idPlaces(route: Route): readonly string[] {
  const schema = route.request && z.toJSONSchema(route.request.schema, { io: 'input', unrepresentable: 'any' });
  const fields = Object.keys(schema?.properties ?? {}).filter((name) => /(_id|Id)$/.test(name));
  const query = (route.query ?? []).map(({ name }) => name).filter((name) => /^runs?$|_id$|Id$/.test(name));
  return [...[...route.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name!), ...fields, ...query];
}
const isAdmin = ({ path }: Route): boolean => path.startsWith('/v1/admin/');
/** Public routes, such as the files of the console, belong to no tenant. */
const withIds = Object.fromEntries(
  routes.flatMap((route) => (idPlaces(route).length > 0 && route.access !== 'open' ? [[nameOf(route), route]] : [])),
);

const credentials: readonly ((key: string) => Record<string, string>)[] = [
  (key) => ({ authorization: `Bearer ${key}` }),
  (key) => ({ 'x-api-key': key }),
  (key) => signedIn.get(key)!,
];

/** Keys of the other tenant. */
const keysOfRoles: Readonly<Record<KeyRole, string>> = { user: 'sk-b', auditor: 'sk-b-auditor', admin: 'sk-b-admin' };

/** The headers that a page sends after signing in, by key. */
const signedIn = new Map<string, Record<string, string>>();
async function signIn(key: string): Promise<void> {
  const response = await fetch(`${world.url}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  });
  const { csrf } = (await response.json()) as { csrf: string };
  signedIn.set(key, { cookie: response.headers.get('set-cookie')!.split(';')[0]!, [csrfHeader]: csrf });
}

const embedder: Embedder = { id: 'fake@1', dimension: 2, embed: async () => [], health: async () => null, close: async () => undefined };

const passages: PassageSearch = () => Promise.resolve({ passages: [], unknownKeys: [] });

let world: World;
let ids: Readonly<Record<Kind, string>>;
const send = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
  const init = method === 'POST' || method === 'PUT' || method === 'PATCH' ? { body: JSON.stringify(body) } : {};
  const response = await fetch(world.url + path, { method, headers: { 'content-type': 'application/json', ...headers }, ...init });
  return { status: response.status, text: await response.text(), run: response.headers.get('x-run-id') };
};
const made = async <T>(path: string, body: unknown, key = 'sk-a'): Promise<T> => {
  const { status, text } = await send('POST', path, body, { 'x-api-key': key });
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  return JSON.parse(text) as T;
};
/** Sends the request of a row with these ids in its places. */
function request(route: Route, given: Readonly<Record<string, string>>, headers: Record<string, string>) {
  const left = new Map(Object.entries(given));
  const path = route.path.replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => {
    const id = left.get(name)!;
    left.delete(name);
    return encodeURIComponent(id);
  });
  const query = route.method === 'GET' ? new URLSearchParams([...left]).toString() : '';
  const body = { ...rows[nameOf(route)]!.body, ...(route.method === 'GET' ? {} : Object.fromEntries(left)) };
  return send(route.method, path + (query && `?${query}`), body, headers);
}
const unknownLike = (id: string): string => {
  const [, prefix = ''] = /^([a-z]+[_-])/.exec(id) ?? [];
  return prefix + id.slice(prefix.length).replaceAll(/[a-z]/g, 'q').replaceAll(/\d/g, '7');
};
/** All ways to put an id from this list into each of the places. */
const fillings = (places: readonly string[], values: readonly string[]): readonly Readonly<Record<string, string>>[] =>
  places.reduce<readonly Readonly<Record<string, string>>[]>(
    (all, place) => all.flatMap((one) => values.map((value) => ({ ...one, [place]: value }))),
    [{}],
  );
/** Whether an id is long enough to be found in a text only as itself; the name of a tenant is not. */
const isLong = (id: string): boolean => id.length > 3;
const rightIds = ({ ids: kinds }: Row): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(kinds).map(([place, kind]) => [place, ids[kind]]));
/** An answer with the ids of its request removed. */
const plain = (answer: Awaited<ReturnType<typeof send>>, given: Readonly<Record<string, string>>) => ({
  ...answer,
  text: Object.values(given)
    .filter(isLong)
    .reduce((text, id) => text.replaceAll(id, '<id>').replaceAll(encodeURIComponent(id), '<id>'), answer.text),
});

jest.setTimeout(300_000);

beforeAll(async () => {
  const graph = new MemoryGraphStore().connect();
  world = await World.open({
    keys: twoTenants,
    parts: { graph, blobs: new MemoryBlobs(), vectors: new MemoryVectorStore().connect(), embedder, passages },
    template: { capabilities: ['research', 'collections'], collections: [] },
  });
  for (const key of ['sk-a', 'sk-a-auditor', 'sk-a-admin', 'sk-b', 'sk-b-auditor', 'sk-b-admin', 'sk-operator']) await signIn(key);
  const start = async (): Promise<string> => (await made<{ id: string }>('/v1/runs', { model: 'conclave', input: `Why ${secret}?` })).id;
  const [run, ended] = [await start(), await start()];
  world.stores.write(run, [{ kind: 'planning', epoch: 0, iteration: 0, max: 3 }]);
  world.stores.write(ended, [completed({ answer: secret })]);
  const response = (await made<{ id: string }>('/v1/responses', { model: 'conclave', input: secret, background: true })).id;
  await made('/v1/collections', { name: secret, description: secret });
  const document = (
    await made<{ id: string }>(`/v1/collections/${secret}/documents`, { name: 'a.md', mime: 'text/markdown', text: secret })
  ).id;
  const setting = documentSetting('a', secret, document);
  const stored = (await world.stores.state.settings.read(setting))!;
  await world.stores.state.settings.write(setting, stored.version, { ...(stored.value as StoredDocument), status: 'ready' });
  const insight = await graph.addSynthesis({
    tenant: 'a',
    runId: ended,
    insight: { summary: secret, entities: [secret], insight_type: 'comparison' },
    domain: 'physics',
    confidence: 0.9,
    at: 7,
    answer: secret,
    sources: [],
  });
  for (const [runId, relation] of [
    ['run_00000001', 'TREATS'],
    ['run_00000002', 'CAUSES'],
  ] as const)
    await graph.addTriples({
      ...{ tenant: 'a', eventId: runId, runId, source: 'answer', domain: 'general', at: 1 },
      triples: [{ subject: secret, subjectType: 'drug', relation, object: 'Headache', objectType: 'symptom', confidence: 0.9 }],
    });
  const [contradiction] = await graph.quarantine({ tenant: 'a', limit: 1, state: 'open' });
  const key = (await made<{ id: string }>('/v1/admin/keys', { name: secret, tenant: 'a' }, 'sk-a-admin')).id;
  const record = {
    ...{ topic: 'run.commands', partition: 4, offset: '17', appendedAt: 1, key: run },
    ...{ headers: { ce_id: `${run}/command/1`, ce_type: 'CommandIssued', ce_runid: run }, raw: Buffer.from(secret) },
  };
  world.broker.append([
    { topic: 'dead', ...deadRecord(record, { group: 'merger', reason: 'failed', attempts: 5, time: 1, error: secret }) },
  ]);
  const letters = await send('GET', '/v1/admin/dead-letters', null, { 'x-api-key': 'sk-operator' });
  const letter = (JSON.parse(letters.text) as { data: { id: string }[] }).data[0]!.id;
  await send('PUT', '/v1/admin/skills/tidy', { text: skillText }, { 'x-api-key': 'sk-operator' });
  ids = {
    run,
    'ended run': ended,
    answer: ended.replace('run_', 'chatcmpl-'),
    response,
    collection: secret,
    document,
    insight: insight.id,
    entity: secret,
    contradiction: contradiction!.id,
    key,
    tenant: 'a',
    'dead letter': letter,
    template: 'conclave',
    prompt: shippedPrompts[0]!.name,
    skill: 'tidy',
  };
});
afterAll(() => world?.close());

describe('the table of isolated routes', () => {
  it('has a row for each declared route that takes an id, and no other rows', () => {
    expect(Object.keys(rows).sort()).toEqual(Object.keys(withIds).sort());
    for (const [name, route] of Object.entries(withIds)) expect([name, Object.keys(rows[name]!.ids)]).toEqual([name, idPlaces(route)]);
  });
});

describe('with the keys of another tenant', () => {
  it.each(Object.keys(rows))('every id is treated as unknown: %s', async (name) => {
    const route = withIds[name]!;
    const row = rows[name]!;
    const places = Object.keys(row.ids);
    // A model may have the name of a template: ids that every tenant may use have no owner.
    const foreign = Object.values(ids).filter((id) => isLong(id) && !(row.shared === 'listed' && id === ids.template));
    const all = [...fillings(places, [...foreign, unknownLike(ids.run)]), rightIds(row)];
    const { roles } = accessKinds[route.access];
    const keys = roles.flatMap((role) => (role === 'user' && row.audit ? [] : [keysOfRoles[role]]));
    const expected = row.shared === 'operator' ? 403 : 404;
    const before = [world.commands().length, world.runs().length, world.events('knowledge.ingest').length];
    for (const key of keys)
      for (const [at, credential] of credentials.entries())
        // Who asks is found before any id is read: the other ways to say so are tried with the ids that would find something.
        for (const given of at === 0 ? all : [rightIds(row)]) {
          const unknown = Object.fromEntries(Object.entries(given).map(([place, id]) => [place, unknownLike(id)]));
          const [told, nobody] = [await request(route, given, credential(key)), await request(route, unknown, credential(key))];
          expect([given, told.status]).toEqual([given, expected]);
          expect([given, plain(told, given)]).toEqual([given, plain(nobody, unknown)]);
          expect(plain(told, given).text).not.toContain(secret);
        }
    expect([world.commands().length, world.runs().length, world.events('knowledge.ingest').length]).toEqual(before);
  });

  it('no list contains anything of the tenant', async () => {
    const lists = routes.filter((route) => route.method === 'GET' && !route.path.includes('{'));
    expect(lists.length).toBeGreaterThan(10);
    const ofAll = [ids.template, ids.prompt, ids.skill];
    const found = [...Object.values(ids).filter((id) => isLong(id) && !ofAll.includes(id)), secret];
    for (const route of lists)
      for (const credential of credentials) {
        const { text } = await send('GET', route.path, null, credential('sk-b-admin'));
        expect([nameOf(route), found.filter((id) => text.includes(id))]).toEqual([nameOf(route), []]);
      }
  });

  it('an idempotency key finds no run of the tenant', async () => {
    const body = { model: 'conclave', input: 'The same question?' };
    const start = async (key: string) => {
      const { text } = await send('POST', '/v1/runs', body, { 'x-api-key': key, 'idempotency-key': 'one-key' });
      return (JSON.parse(text) as { id: string }).id;
    };
    const own = await start('sk-a');
    expect(await start('sk-a')).toBe(own);
    expect(await start('sk-b')).not.toBe(own);
  });
});

describe('with the keys of its own tenant', () => {
  /** Proves that the requests of the table can find something. Follows the order of the table, because its last rows remove things. */
  it('every id of the right kind is found, by each credential header and by the cookie of a session', async () => {
    for (const [name, row] of Object.entries(rows)) {
      const route = withIds[name]!;
      const { shared } = row;
      if (shared === 'listed') continue;
      const given = rightIds(row);
      const key = shared === 'operator' ? 'sk-operator' : isAdmin(route) ? 'sk-a-admin' : row.audit ? 'sk-a-auditor' : 'sk-a';
      const answers = [];
      for (const credential of route.method === 'GET' ? credentials : [credentials[0]!])
        answers.push((await request(route, given, credential(key))).status);
      expect([name, answers.every((status) => status < 500 && ![401, 403, 404].includes(status))]).toEqual([name, true]);
    }
  });
});
