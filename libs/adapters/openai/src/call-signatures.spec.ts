import { describe, expect, it } from '@jest/globals';
import type { JsonObject, Models } from '@conclave/ports';
import { Gemini, type Signing } from '@conclave/test-support';
import { refusesExtraContent, refusesSignatures, wantsSignatures, withoutExtraContent } from './call-signatures.js';
import { bare, open, watch } from './__fixtures__/servers.js';

type Message = Readonly<Record<string, unknown>>;
interface Call {
  id: string;
  function: { name: string; arguments: string };
  extra_content?: object;
}
const user = (content: string): Message => ({ role: 'user', content });
const calling = (...calls: readonly object[]): Message => ({ role: 'assistant', content: null, tool_calls: calls });
const look = (id: string): Call => ({ id, function: { name: 'look', arguments: '{}' } });
const result = ({ id }: { id: string }): Message => ({ role: 'tool', tool_call_id: id, content: 'seen' });
/** The calls of a message as most libraries keep them. */
const plain = ({ id, function: called }: Call) => ({ id, type: 'function', function: called });

const served = (gemini: Gemini): Promise<string> =>
  bare((_request, response, text) => {
    const { status, headers, body } = gemini.reply(JSON.parse(text) as JsonObject);
    response.writeHead(status, headers).end(body);
  });

async function asked(models: Models, messages: readonly Message[], stream = false) {
  const got: JsonObject[] = [];
  const request = { model: 'm@p', body: { model: 'x', messages, stream }, timeoutMs: 5_000 };
  const { body, content } = await models.pass(request, { ...watch(), onChunk: (one) => void got.push(one) });
  const calls: Call[] = [];
  if (body) calls.push(...((body['choices'] as { message: { tool_calls?: Call[] } }[])[0]!.message.tool_calls ?? []));
  for (const { delta } of got.flatMap((one) => one['choices'] as { delta: { tool_calls?: (Call & { index: number })[] } }[]))
    for (const { index, ...piece } of delta.tool_calls ?? []) {
      const call = (calls[index] ??= { id: '', function: { name: '', arguments: '' } });
      call.id ||= piece.id ?? '';
      call.function.name ||= piece.function?.name ?? '';
      call.function.arguments += piece.function?.arguments ?? '';
    }
  return { calls, content };
}

/** Turns of an agent that keeps of each call what `keeps` returns, until the model answers; the messages of the last request. */
async function worked(gemini: Gemini, keeps: (call: Call) => object, stream = false) {
  const models = open(await served(gemini));
  const messages: Message[] = [user('Look.')];
  for (;;) {
    const { calls, content } = await asked(models, messages, stream);
    if (calls.length === 0) return { content, last: gemini.seen.at(-1)! };
    const kept = calls.map(keeps) as Call[];
    messages.push(calling(...kept), ...kept.map(result));
  }
}
const signaturesIn = (messages: readonly Message[]): unknown[] =>
  messages.flatMap(({ tool_calls: calls }) =>
    ((calls ?? []) as { extra_content?: Record<string, { thought_signature: string }> }[]).map(
      ({ extra_content: extra }) => Object.values(extra ?? {})[0]?.thought_signature,
    ),
  );

describe('a model that signs its calls', () => {
  it.each<[string, { at?: string; signing?: Signing; stream: boolean }]>([
    ['a whole reply', { stream: false }],
    ['of Vertex AI', { at: 'vertex', stream: false }],
    ['a stream', { stream: true }],
    ['a stream with the signature behind the call', { signing: 'behind it', stream: true }],
    ['a stream with the signature behind the pieces of the call', { signing: 'behind its pieces', stream: true }],
  ])('gets its own signatures back from a client that keeps only ids, names and arguments: %s', async (_name, { stream, ...form }) => {
    const gemini = new Gemini({ steps: 3, atOnce: 2, ...form });
    const { content, last } = await worked(gemini, plain, stream);
    expect(content).toBe('It is red.');
    expect(gemini.seen).toHaveLength(4);
    expect(signaturesIn(last)).toEqual([...gemini.given].flatMap((signature) => [signature, undefined]));
    const ids = last.flatMap(({ tool_calls: calls }) => ((calls ?? []) as Call[]).map(({ id }) => id));
    expect(ids).toHaveLength(6);
    for (const id of ids) expect(id).toMatch(/^function-call-[01][0-9a-f-]{36}$/);
    expect(last.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]))).toEqual(ids);
  });

  it('gets them from a client that returns what it does not know, too', async () => {
    const gemini = new Gemini({ steps: 2 });
    expect(signaturesIn((await worked(gemini, (call) => call)).last)).toEqual([...gemini.given]);
    expect(gemini.seen).toHaveLength(3);
  });

  it.each([
    ['from elsewhere', undefined, ['call_1']],
    ['from elsewhere, on Vertex AI', 'vertex', ['call_1']],
    ['shortened ids', undefined, ['function-call-1__signed_12345678_abc', 'call_2']],
  ])('gets the documented placeholder for calls without a signature, once it asks for them: %s', async (_name, at, ids) => {
    // Behind a server of Vertex AI, the name of the service is known from a call that it signed.
    const gemini = new Gemini({ steps: 2, ...(at ? { at } : {}) });
    const models = open(await served(gemini));
    const made = (await asked(models, [user('Look.')])).calls;
    const messages = [
      user('Look.'),
      calling(...made),
      ...made.map(result),
      user('And now?'),
      calling(...ids.map(look)),
      ...ids.map((id) => result({ id })),
    ];
    const { calls } = await asked(models, messages);
    expect(calls).toHaveLength(1);
    expect(signaturesIn(gemini.seen.at(-1)!)).toEqual(
      [...gemini.given].slice(0, 1).concat('skip_thought_signature_validator', ...Array<never>(ids.length - 1)),
    );
    expect(gemini.seen).toHaveLength(3);
  });

  it('gets placeholders only when it refuses the signatures of a conversation, and the next conversation keeps its own', async () => {
    const gemini = new Gemini({ steps: 2 });
    const models = open(await served(gemini));
    const other = { ...look('call_1'), extra_content: { google: { thought_signature: 'of another account' } } };
    for (let turn = 0; turn < 3; turn += 1) {
      await asked(models, [user('Look.'), calling(other), result(other)]);
      expect(gemini.seen).toHaveLength(2 * (turn + 1));
      expect(signaturesIn(gemini.seen.at(-1)!)).toEqual(['skip_thought_signature_validator']);
    }
    const { calls } = await asked(models, [user('Look.')]);
    await asked(models, [user('Look.'), calling(...calls), ...calls.map(result)]);
    expect([...gemini.given]).toContain(signaturesIn(gemini.seen.at(-1)!)[0]);
  });

  it('is recognised by its sentences, and no other refusal changes signatures', () => {
    const said = (message: string, param = '') => ({ message, param, code: '', type: '' });
    expect(wantsSignatures(said('Function call is missing a thought_signature in functionCall parts.'))).toBe(true);
    expect(wantsSignatures(said('function call `Bash` in the 6. content block is missing a `thought_signature`.'))).toBe(true);
    expect(wantsSignatures(said('The thought_signature is not valid; a part is missing.'))).toBe(false);
    for (const words of ['Thought signature is not valid', 'Corrupted thought signature.', 'Invalid thought signature.'])
      expect(refusesSignatures(said(words))).toBe(true);
    expect(refusesSignatures(said('Function call is missing a thought_signature in functionCall parts.'))).toBe(false);
  });
});

describe('a model that signs no calls', () => {
  it('does not get the signatures of another one, if its server knows no such member', async () => {
    const signing = new Gemini();
    const { calls } = await asked(open(await served(signing)), [user('Look.')]);
    const seen: string[] = [];
    const strict = open(
      await bare((_request, response, text) => {
        seen.push(text);
        const knows = !text.includes('extra_content');
        const error = {
          message: "Unknown parameter: 'messages[1].tool_calls[0].extra_content'.",
          param: 'messages[1].tool_calls[0].extra_content',
        };
        const answer = { choices: [{ index: 0, message: { content: 'ok' }, finish_reason: 'stop' }] };
        response.writeHead(knows ? 200 : 400, { 'content-type': 'application/json' });
        response.end(JSON.stringify(knows ? answer : { error: { ...error, code: 'unknown_parameter', type: 'invalid_request_error' } }));
      }),
    );
    const { content } = await asked(strict, [user('Look.'), calling(...calls.map(plain)), ...calls.map(result), user('So?')]);
    expect(content).toBe('ok');
    expect(seen).toHaveLength(2);
    expect(seen[1]).not.toMatch(/extra_content|__signed_/);
  });

  it('is recognised by the name of the member, in messages and in calls', () => {
    const said = { code: '', type: '', param: '', message: "property 'extra_content' is unsupported" };
    expect(refusesExtraContent(said)).toBe(true);
    expect(refusesExtraContent({ ...said, message: 'The content is unsupported' })).toBe(false);
    const message = { role: 'assistant', content: 'Hm', extra_content: {}, tool_calls: [{ ...look('a'), extra_content: {} }] };
    expect(withoutExtraContent([message])).toEqual([{ role: 'assistant', content: 'Hm', tool_calls: [look('a')] }]);
  });
});
