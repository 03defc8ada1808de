import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FeedbackAccepted, type KnowledgeProposed } from '@conclave/contracts';
import { completed, twoTenants, World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open({ keys: twoTenants });
});
afterEach(() => world.close());

const asA = { headers: { 'x-api-key': 'sk-a' } };
const asB = { headers: { 'x-api-key': 'sk-b' } };

/** A finished run of tenant a. */
async function answered(): Promise<string> {
  await world.post('/v1/runs', { model: 'conclave', input: 'Why is the sky blue?' }, asA);
  world.write(completed());
  return world.run();
}
const rate = async (body: object, as = asA) => {
  const response = await world.post('/v1/feedback', body, as);
  return { status: response.status, body: (await response.json()) as { error?: { code: string; message: string } } };
};
const proposed = () => world.events<KnowledgeProposed>('knowledge.ingest');

describe('feedback', () => {
  it('rates the answer of a run and publishes the rating for learning', async () => {
    const run = await answered();
    const { status, body } = await rate({ response_id: run, rating: 2 });
    expect(status).toBe(202);
    expect(FeedbackAccepted.parse(body)).toEqual({ object: 'feedback', run, rating: 2, correction: false });
    expect(proposed()).toMatchObject([
      { id: `${run}/feedback`, runId: run, data: { kind: 'feedback', rating: 2, about: run, tenant: 'a', actor: 'key_a', text: '' } },
    ]);
  });

  it.each(['chatcmpl-', 'cmpl-', 'msg_', 'resp_'])(
    'also finds an answer by its id with %s, and stores a correction separately',
    async (prefix) => {
      const run = await answered();
      const correction = '  It is Rayleigh scattering. ';
      expect(await rate({ response_id: prefix + run.slice(4), rating: 1, correction })).toMatchObject({ status: 202, body: { run } });
      expect(proposed()).toMatchObject([
        { data: { kind: 'feedback', rating: 1, text: '' } },
        { id: `${run}/feedback/correction`, data: { kind: 'correction', rating: null, text: 'It is Rayleigh scattering.' } },
      ]);
      expect(JSON.stringify(world.lines)).not.toContain('Rayleigh');
    },
  );

  it('counts once: a repeat is accepted with the same ids, another rating is refused', async () => {
    const run = await answered();
    for (let again = 0; again < 2; again += 1) expect((await rate({ response_id: run, rating: 5 })).status).toBe(202);
    expect(new Set(proposed().map(({ id }) => id))).toEqual(new Set([`${run}/feedback`]));
    expect(await rate({ response_id: run, rating: 4 })).toMatchObject({ status: 409, body: { error: { code: 'FEEDBACK_GIVEN' } } });
    expect(await rate({ response_id: run, rating: 5, correction: 'x' })).toMatchObject({ status: 409 });
    expect(proposed().every(({ data }) => data.rating === 5)).toBe(true);
  });

  it('is completed by a repeat when the gateway died between the claim and the log', async () => {
    const run = await answered();
    world.publishFails = true;
    expect((await rate({ response_id: run, rating: 1 })).status).toBe(500);
    expect(proposed()).toEqual([]);
    world.publishFails = false;
    expect((await rate({ response_id: run, rating: 1 })).status).toBe(202);
    expect(proposed()).toMatchObject([{ id: `${run}/feedback`, data: { rating: 1 } }]);
  });

  it('reveals a run to its owner only', async () => {
    const run = await answered();
    const foreign = await rate({ response_id: run, rating: 1 }, asB);
    const none = await rate({ response_id: 'run_doesnotexist', rating: 1 }, asB);
    expect(foreign).toEqual(none);
    expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'RUN_NOT_FOUND' } } });
    const colleague = world.stores.headers.get(run)!;
    world.stores.headers.set(run, { ...colleague, data: { ...colleague.data, caller: { tenant: 'a', actor: 'key_other' } } });
    expect(await rate({ response_id: run, rating: 1 })).toEqual(none);
    expect(proposed()).toEqual([]);
  });

  it('is refused until the run has an answer', async () => {
    await world.post('/v1/runs', { model: 'conclave', input: 'Why?' }, asA);
    expect(await rate({ response_id: world.run(), rating: 5 })).toMatchObject({
      status: 409,
      body: { error: { code: 'ANSWER_NOT_THERE' } },
    });
  });

  it.each([
    ['no rating', { response_id: 'run_12345678' }, 'rating'],
    ['a rating of 6', { response_id: 'run_12345678', rating: 6 }, 'rating'],
    ['half a star', { response_id: 'run_12345678', rating: 2.5 }, 'rating'],
    ['no id', { rating: 3 }, 'response_id'],
    ['a correction that is too long', { response_id: 'run_12345678', rating: 3, correction: 'x'.repeat(4_001) }, 'correction'],
  ])('refuses %s', async (_what, body, field) => {
    expect(await rate(body)).toMatchObject({ status: 400, body: { error: { param: field } } });
  });
});
