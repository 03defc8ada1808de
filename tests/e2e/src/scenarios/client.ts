import { expect, it } from '@jest/globals';
import type { ErrorBody } from '@conclave/contracts';
import OpenAI from 'openai';
import { ask, CommitteeScript, type System, expert, user } from '@conclave/test-support/system';
import { describeOnce } from '../harness/describe-once.js';

/** What real clients do, and what they receive when they make mistakes. */
export function clientScenarios(system: () => System): void {
  const client = (): OpenAI => new OpenAI({ baseURL: `${system().url()}/v1`, apiKey: 'sk-anything', maxRetries: 0 });
  const script = (label: string): CommitteeScript =>
    new CommitteeScript(system().models, `What does the client see? (${label})`).plan([expert('x1', 'Say it.')]).expert('It sees all.');

  describeOnce('the OpenAI client for Node', () => {
    it('reads a whole answer', async () => {
      const s = script('whole').answer(['It sees ', 'everything.']);
      const answer = await client().chat.completions.create({ model: 'conclave-fast', messages: [{ role: 'user', content: s.question }] });
      expect(answer.choices[0]!.message.content).toBe('It sees everything.');
      expect(answer.choices[0]!.finish_reason).toBe('stop');
      expect(answer.usage).toMatchObject(CommitteeScript.tokens(['planner', 'expert', 'composer']));
      expect(answer._request_id).toMatch(/^req_/);
      expect(s.calls()).toHaveLength(3);
    });

    it('iterates a raw stream', async () => {
      const s = script('raw').answer(['It sees ', 'everything.']);
      const stream = await client().chat.completions.create({
        model: 'conclave-fast',
        messages: [{ role: 'user', content: s.question }],
        stream: true,
        stream_options: { include_usage: true },
      });
      const finishes: string[] = [];
      let text = '';
      let total = 0;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? '';
        if (chunk.choices[0]?.finish_reason) finishes.push(chunk.choices[0].finish_reason);
        total += chunk.usage?.total_tokens ?? 0;
      }
      expect([text, finishes, total]).toEqual([
        'It sees everything.',
        ['stop'],
        CommitteeScript.tokens(['planner', 'expert', 'composer']).total_tokens,
      ]);
    });

    it('assembles a stream with .stream()', async () => {
      const s = script('helper').answer(['It sees ', 'everything.']);
      const runner = client().chat.completions.stream({ model: 'conclave-fast', messages: [{ role: 'user', content: s.question }] });
      const pieces: string[] = [];
      runner.on('content', (delta) => void (delta && pieces.push(delta)));
      const final = await runner.finalChatCompletion();
      expect(final.choices[0]!.message).toMatchObject({ role: 'assistant', content: 'It sees everything.' });
      expect(pieces.join('')).toBe('It sees everything.');
    });

    it('lists and retrieves templates, aliases and models, also with slashes and @ in the id', async () => {
      const ids = (await client().models.list()).data.map((model) => model.id);
      expect(ids).toEqual(
        expect.arrayContaining([
          'conclave',
          'conclave-fast',
          'conclave-research',
          'checks-answers',
          'gpt-4o',
          'scripted@fake',
          'other@fake',
        ]),
      );
      expect(await client().models.retrieve('conclave')).toMatchObject({ id: 'conclave', object: 'model', owned_by: 'conclave' });
      expect(await client().models.retrieve('scripted@fake')).toMatchObject({ id: 'scripted@fake', owned_by: 'fake' });
      await expect(client().models.retrieve('nobody/knows')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    });

    it('throws its own error class for an unknown model, with the valid ids', async () => {
      const failed = client().chat.completions.create({ model: 'no-such', messages: [{ role: 'user', content: 'x' }] });
      await expect(failed).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(failed).rejects.toMatchObject({
        status: 404,
        code: 'model_not_found',
        param: 'model',
        message: expect.stringContaining('conclave-fast'),
      });
    });
  });

  describeOnce('a request that cannot be served', () => {
    const good = { model: 'conclave', messages: user('x') };
    it.each([
      ['an unknown model', { ...good, model: 'nope' }, 404, 'model', 'model_not_found'],
      ['malformed JSON', '{"model": "conclave", ', 400, null, undefined],
      ['JSON that is not an object', '[1]', 400, null, undefined],
      ['a body of 5 MB', { ...good, messages: user('x'.repeat(5 * 1024 * 1024)) }, 413, null, undefined],
      ['no messages', { ...good, messages: [] }, 400, 'messages', undefined],
      ['messages of a wrong type', { ...good, messages: 'hello' }, 400, 'messages', undefined],
      ['a message of a wrong type', { ...good, messages: [{ role: 'user', content: 7 }] }, 400, 'messages[0].content', undefined],
      ['an unknown role', { ...good, messages: [{ role: 'boss', content: 'x' }] }, 400, 'messages[0].role', undefined],
      ['an empty question', { ...good, messages: user('  ') }, 400, 'messages[0].content', undefined],
      ['a missing model', { messages: user('x') }, 400, 'model', undefined],
      ['a stream flag that is text', { ...good, stream: 'yes' }, 400, 'stream', undefined],
      ['a temperature out of range', { ...good, temperature: 9 }, 400, 'temperature', undefined],
      ['two answers', { ...good, n: 2 }, 400, 'n', undefined],
    ] as const)('is refused in the shape of OpenAI: %s', async (_what, body, status, param, code) => {
      const before = system().models.calls.length;
      const refused = await ask(system().url(), body);
      expect(refused.status).toBe(status);
      const { error } = refused.body as ErrorBody;
      expect(error).toEqual({ message: expect.any(String), type: expect.any(String), param, code: code ?? expect.any(String) });
      expect(error.message.length).toBeGreaterThan(20);
      expect(error.message).not.toContain('xxxx');
      expect(refused.headers.get('x-request-id')).toBeTruthy();
      expect(refused.headers.get('content-type')).toContain('application/json');
      expect(system().models.calls.length).toBe(before);
    });

    it.each([
      ['an unknown path', 'GET', '/v1/nothing', undefined, 404],
      ['a wrong method', 'DELETE', '/v1/models', undefined, 405],
      ['a wrong content type', 'POST', '/v1/chat/completions', 'text/plain', 415],
      ['an unknown run', 'GET', '/v1/runs/run_0123456789', undefined, 404],
    ] as const)('is refused in the shape of OpenAI: %s', async (_what, method, path, type, status) => {
      const response = await fetch(`${system().url()}${path}`, {
        method,
        ...(type ? { headers: { 'content-type': type }, body: '{}' } : {}),
      });
      expect(response.status).toBe(status);
      expect(((await response.json()) as ErrorBody).error).toMatchObject({
        message: expect.any(String),
        type: expect.any(String),
        code: expect.any(String),
      });
    });

    it('is accepted even when optional fields are null or unknown, and addresses and keys in the body are ignored', async () => {
      const s = script('generous').answer(['Fine.']);
      const { status, body } = await ask(system().url(), {
        model: 'conclave-fast',
        messages: user(s.question),
        temperature: null,
        tools: null,
        user: null,
        unheard_of: { a: 1 },
        api_base: 'http://127.0.0.1:1/v1',
        api_key: 'sk-other',
      });
      expect([status, body.choices[0]!.message.content]).toEqual([200, 'Fine.']);
      expect(s.calls()).toHaveLength(3);
    });
  });
}
