import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { World } from '../__fixtures__/world.js';

let world: World;
beforeEach(async () => {
  world = await World.open({ limits: { maxBodyBytes: 8_000_000 } });
});
afterEach(() => world.close());

const user = (content: string) => ({ role: 'user', content });
/** A third of the tokens that the fixture's template may spend on prompts. */
const mostTokens = Math.floor(80_000 / 3);
const most = mostTokens * 4;

describe('a question', () => {
  it.each(['/v1/chat/completions', '/v1/runs'])(
    'that no run can pay for is refused immediately as too long, without starting a run: %s',
    async (path) => {
      for (const messages of [
        [user('x'.repeat(3_000_000))],
        [user('x'.repeat(most + 4))],
        [{ role: 'system', content: 'y'.repeat(most) }, user('Why?')],
        [user('ü'.repeat(mostTokens + 1))],
      ]) {
        const response = await world.post(path, { model: 'conclave', messages });
        expect([response.status, ((await response.json()) as { error: unknown }).error]).toMatchObject([
          400,
          {
            code: 'context_length_exceeded',
            type: 'invalid_request_error',
            param: 'messages',
            message: expect.stringContaining(`${mostTokens} tokens`),
          },
        ]);
        expect(response.headers.get('x-should-retry')).toBe('false');
      }
      expect(world.runs()).toEqual([]);
    },
  );

  it('that fits is sent with as many of the newest turns as fit', async () => {
    const small = await World.open({ template: { contexts: { 'm@fake': 1_000 } } });
    try {
      const turns = Array.from({ length: 40 }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', content: `${n} `.padEnd(400, 'x') }));
      expect((await small.post('/v1/runs', { model: 'conclave', messages: [...turns, user('And then?')] })).status).toBe(202);
      const { goal, conversation } = small.requested()[0]!.data;
      expect(goal).toBe('And then?');
      expect(conversation.map(({ content }) => Number(content.slice(0, 2)))).toEqual([31, 32, 33, 34, 35, 36, 37, 38, 39]);
    } finally {
      await small.close();
    }
  });

  it('has the documents of its earlier turns that still fit, and those of its own count with it', async () => {
    const small = await World.open({ template: { contexts: { 'm@fake': 1_000 } } });
    const file = (name: string, length: number) => user(`<doc name='${name}.md'>${name}\n${'x'.repeat(length)}</doc>\n\nWhat is ${name}?`);
    const answer = { role: 'assistant', content: 'So.' };
    try {
      const messages = [file('one', 600), answer, file('two', 3_500), answer, file('three', 600), answer, user('And then?')];
      expect((await small.post('/v1/runs', { model: 'conclave', messages })).status).toBe(202);
      const { documents, conversation } = small.requested()[0]!.data;
      expect(documents?.map(({ title }) => title)).toEqual(['three.md', 'one.md']);
      expect(conversation[2]!.content).toBe('What is two?\n[file: two.md]');
      expect((await small.post('/v1/runs', { model: 'conclave', messages: [file('four', 4_100)] })).status).toBe(400);
    } finally {
      await small.close();
    }
  });

  it('is measured against the longest context when the context of every model is known', async () => {
    const small = await World.open({ template: { contexts: { 'm@fake': 1_000 } } });
    try {
      expect((await small.post('/v1/runs', { model: 'conclave', input: 'x'.repeat(4_100) })).status).toBe(400);
      expect((await small.post('/v1/runs', { model: 'conclave', input: 'x'.repeat(3_900) })).status).toBe(202);
    } finally {
      await small.close();
    }
  });

  it('may have lists of limited length only', async () => {
    const ask = async (more: object) =>
      (await world.post('/v1/chat/completions', { model: 'conclave', messages: [user('Why?')], ...more })).status;
    const tool = { type: 'function', function: { name: 'f', parameters: {} } };
    expect(await ask({ stop: Array.from({ length: 17 }, String) })).toBe(400);
    expect(await ask({ tools: Array.from({ length: 513 }, () => tool) })).toBe(400);
    expect(world.runs()).toEqual([]);
  });
});
