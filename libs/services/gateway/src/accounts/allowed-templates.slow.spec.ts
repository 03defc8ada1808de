import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type KeyCreated, makeEvent, ModelList, RunAccepted, StepRecorded } from '@conclave/contracts';
import type { Embedder } from '@conclave/ports';
import { research, runId as scriptedId, Scenario } from '@conclave/strategies/loop-suite';
import { byAdmin, reply, template, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open({ others: [{ ...template, id: 'other' }] });
});
afterEach(() => world.close());

async function keyFor(templates: readonly string[] | null): Promise<{ readonly headers: Record<string, string> }> {
  const response = await world.post('/v1/admin/keys', { name: 'k', templates }, { headers: byAdmin });
  return { headers: { 'x-api-key': ((await response.json()) as KeyCreated).key } };
}
const content = [{ role: 'user', content: 'Why?' }];
/** Every route that names a model in its body. */
const routes: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: content },
  '/v1/completions': { prompt: 'Why?' },
  '/v1/responses': { input: 'Why?' },
  '/v1/messages': { max_tokens: 5, messages: content },
  '/v1/messages/count_tokens': { messages: content },
  '/v1/embeddings': { input: 'Why?' },
  '/v1/runs': { input: 'Why?' },
};
const refusal = async (response: Response): Promise<readonly unknown[]> => {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return [response.status, error.code, error.message];
};
const notFound = (...ids: readonly string[]) => [
  ...[404, 'model_not_found'],
  expect.stringContaining(ids.length === 0 ? 'none' : `: ${ids.join(', ')}.`),
];
const idsFor = async (init: object, query = ''): Promise<readonly string[]> =>
  ModelList.parse(await (await fetch(`${world.url}/v1/models${query}`, init)).json()).data.map(({ id }) => id);

describe('a key that is restricted to some ids', () => {
  it.each(Object.entries(routes))('gets "not found" for every other id at %s', async (path, body) => {
    const by = await keyFor(['other']);
    for (const model of ['conclave', 'gpt-4o', 'm@fake', 'e@fake', 'conclave-embedding', 'asleep', 'nobody'])
      for (const stream of [false, true]) {
        const answer = await refusal(await world.post(path, { model, ...body, ...(path === '/v1/runs' ? {} : { stream }) }, by));
        expect([model, answer]).toEqual([
          model,
          path === '/v1/embeddings' ? [404, 'model_not_found', expect.anything()] : notFound('other'),
        ]);
        expect(answer[2]).not.toMatch(/m@fake|e@fake|gpt-4o/);
      }
    expect([world.runs(), world.models.calls, world.models.embedded]).toEqual([[], [], []]);
  });

  it('gets "not found" for every other id at /v1/responses in the background', async () => {
    const by = await keyFor(['other']);
    const body = { model: 'conclave', input: 'Why?', background: true };
    expect(await refusal(await world.post('/v1/responses', body, by))).toEqual(notFound('other'));
  });

  it('lists only the ids that it may use, including their aliases', async () => {
    const all = ['conclave', 'other', 'gpt-4o', 'm@fake', 'org/m:8b@fake'];
    expect(await idsFor(await keyFor(null))).toEqual(all);
    expect(await idsFor(await keyFor(['other']))).toEqual(['other']);
    expect(await idsFor(await keyFor(['conclave', 'org/m:8b@fake']))).toEqual(['conclave', 'gpt-4o', 'org/m:8b@fake']);
    expect(await idsFor(await keyFor(['gpt-4o']))).toEqual(['gpt-4o']);
    expect(await idsFor(await keyFor(['gone']))).toEqual([]);
    expect(await idsFor(await keyFor(['other']), '?kind=embedding')).toEqual([]);
    expect(await idsFor(await keyFor(['e@fake']), '?kind=embedding')).toEqual(['e@fake']);
  });

  it('finds only those ids at /v1/models/{id}', async () => {
    const by = await keyFor(['conclave', 'e@fake']);
    const one = (id: string) => fetch(`${world.url}/v1/models/${id}`, by);
    for (const id of ['conclave', 'gpt-4o', 'e@fake']) expect([id, (await one(id)).status]).toEqual([id, 200]);
    for (const id of ['other', 'm@fake', 'org/m:8b@fake', 'nobody'])
      expect([id, await refusal(await one(id))]).toEqual([id, notFound('conclave', 'gpt-4o')]);
    const none = await keyFor(['gone']);
    expect(await refusal(await fetch(`${world.url}/v1/models/conclave`, none))).toEqual(notFound());
  });

  it('can use them: a template under any alias, a model, an embedding model', async () => {
    const by = await keyFor(['conclave', 'm@fake', 'e@fake']);
    for (const model of ['conclave', 'gpt-4o']) expect((await world.post('/v1/runs', { model, input: 'Why?' }, by)).status).toBe(202);
    world.models.next(() => Promise.resolve(reply()));
    expect((await world.chat({ model: 'm@fake', stream: false }, by)).status).toBe(200);
    expect((await world.post('/v1/embeddings', { model: 'e@fake', input: 'Why?' }, by)).status).toBe(200);
    const alias = await keyFor(['gpt-4o']);
    expect((await world.post('/v1/runs', { model: 'gpt-4o', input: 'Why?' }, alias)).status).toBe(202);
    expect(await refusal(await world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, alias))).toEqual(notFound('gpt-4o'));
  });

  it("can use the gateway's own embedder under either of its names when one of them is allowed", async () => {
    await world.close();
    const embedder: Embedder = {
      id: 'own@1',
      dimension: 1,
      embed: async (texts) => texts.map(() => Float32Array.of(1)),
      health: () => Promise.resolve(null),
      close: () => Promise.resolve(),
    };
    world = await World.open({ parts: { embedder } });
    const embed = async (init: object, model: string) => (await world.post('/v1/embeddings', { model, input: 'Why?' }, init)).status;
    const by = await keyFor(['conclave-embedding']);
    expect([await embed(by, 'conclave-embedding'), await embed(by, 'own@1'), await embed(by, 'e@fake')]).toEqual([200, 200, 404]);
    expect(await embed(await keyFor(['conclave']), 'conclave-embedding')).toBe(404);
    expect(await idsFor(by, '?kind=embedding')).toEqual(['conclave-embedding']);
  });

  it('can fork only runs of those templates, whatever model it names', async () => {
    const all = await keyFor(null);
    const response = await world.post('/v1/runs', { model: 'conclave', input: 'Who founded the mill?' }, all);
    const { id } = RunAccepted.parse(await response.json());
    const run = new Scenario();
    run.requested({}, { goal: 'Who founded the mill?' });
    run.planned(0, [research('r', 'founder of the mill')]);
    run.found('r', 'Ana founded the mill.');
    run.judged('complete');
    run.composed('Ana did [1].');
    await world.log.publish(
      run.audit
        .map((data) => JSON.parse(JSON.stringify(data).replaceAll(scriptedId, id)) as typeof data)
        .map((data) => makeEvent(StepRecorded, { id: `${id}/step/${data.version}`, runId: id, source: 'merger', time: data.now }, data)),
    );
    const fork = (init: object, body: object) => world.post(`/v1/runs/${id}/forks`, { step: 2, ...body }, init);
    const other = await keyFor(['other', 'm@fake']);
    for (const body of [{}, { model: 'm@fake' }, { model: 'other' }])
      expect(await refusal(await fork(other, body))).toEqual(notFound('other', 'm@fake'));
    const [own, alias] = [await keyFor(['conclave']), await keyFor(['gpt-4o'])];
    for (const by of [own, alias]) {
      expect(await refusal(await fork(by, { model: 'm@fake' }))).toEqual([404, 'model_not_found', expect.anything()]);
      expect((await fork(by, {})).status).toBe(202);
    }
  });

  it('can direct only runs of those templates, and stop every run of its tenant', async () => {
    const started = await world.post('/v1/runs', { model: 'conclave', input: 'Who founded the mill?' }, await keyFor(null));
    const { id } = RunAccepted.parse(await started.json());
    const send = (init: object, body: object) => world.post(`/v1/runs/${id}/commands`, body, init);
    const other = await keyFor(['other', 'm@fake']);
    const directing = { command: 'add_context', text: 'The mill burned down.' };
    expect(await refusal(await send(other, directing))).toEqual(notFound('other', 'm@fake'));
    for (const name of ['conclave', 'gpt-4o']) expect((await send(await keyFor([name]), directing)).status).toBe(202);
    expect((await send(other, { command: 'cancel' })).status).toBe(202);
  });
});
