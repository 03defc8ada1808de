// What the client of a template sees of a model server that fails: how often it is asked, with which status, and whether the sentence helps.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ScriptedModelServer, type ScriptedReply, type ScriptedRequest } from '@conclave/test-support';
import { inventedName, plainTemplate, roleOf, System } from '@conclave/test-support/system';

const providers = ['down', 'strict', 'missing', 'broken', 'busy', 'planning', 'silent'] as const;
type Provider = (typeof providers)[number];
const error = (status: number, message: string, code: string | null = null, headers = {}): ScriptedReply => ({
  ...{ status, headers: { 'content-type': 'application/json', ...headers } },
  body: { error: { message, type: 'some_error', code } },
});
const failed = error(500, 'Internal server error');
const plan = JSON.stringify({
  tasks: ['x1', 'x2'].map((id) => ({ id, task: `Say it of ${id}.`, capability: 'expert.general', needs: [] })),
});

/** What each server replies to a chat request; `down` listens nowhere. */
const replies: Readonly<Record<Exclude<Provider, 'down'>, (request: ScriptedRequest) => ScriptedReply>> = {
  strict: () => error(401, 'Incorrect API key provided', 'invalid_api_key'),
  missing: () => error(404, 'The model `m` does not exist', 'model_not_found'),
  broken: () => failed,
  busy: () => error(429, 'Rate limit reached', null, { 'retry-after': '600' }),
  planning: (request) => {
    const role = roleOf(request);
    return role === 'planner' ? { text: plan } : role === 'expert' ? { text: 'It is red.' } : failed;
  },
  silent: () => ({ hang: true }),
};

/** What clients see of each template, by its provider and whether they asked for a stream. */
const seen = new Map<string, Promise<Seen>>();
const servers = new Map<Provider, ScriptedModelServer>();
let system: System;
beforeAll(async () => {
  for (const [name, reply] of Object.entries(replies))
    servers.set(name as Provider, await ScriptedModelServer.start({ script: [{ match: () => true, reply, times: Infinity }] }));
  const closed = await ScriptedModelServer.start();
  await closed.close();
  const shared = { ...plainTemplate, strategy: 'single-pass', learn: 'off', capabilities: [] } as const;
  system = await System.start({
    demo: true,
    configuration: {
      providers: Object.fromEntries(
        providers.map((name) => [
          name,
          {
            base_url: (servers.get(name) ?? closed).url,
            breaker: { failures: 1_000, window: 1_000 },
            ...(name === 'silent' ? { timeout_s: 1 } : {}),
          },
        ]),
      ),
      templates: Object.fromEntries(
        providers.map((name) => {
          const model = `m@${name}`;
          return [`on-${name}`, { ...shared, planner: { model }, judge: { model }, experts: { general: { t1: [model] } } }];
        }),
      ),
      aliases: { chat: ['m@missing', 'm@broken'] },
    },
  });
  // At once, because most of them wait between their attempts.
  for (const name of providers) for (const stream of [false, true]) seen.set(`${name} ${stream}`, asked(`on-${name}`, stream));
  await Promise.allSettled(seen.values());
});
afterAll(async () => {
  await system?.stop();
  for (const server of servers.values()) await server.close();
});
afterEach(() => expect(system.models.violations()).toEqual([]));

interface Seen {
  readonly status: number;
  readonly error: { readonly message: string; readonly code: string } | null;
  readonly text: string;
  readonly isDone: boolean;
  readonly calls: number;
  /** Seconds. */
  readonly retryAfter: string | null;
}
async function asked(model: string, stream: boolean): Promise<Seen> {
  const server = servers.get(model.replace(/^.*[-@]/, '') as Provider);
  const question = `How does ${inventedName()} differ from ${inventedName()}, and what follows for the colour?`;
  const response = await fetch(`${system.url()}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: question }] }),
  });
  const sent = await response.text();
  const retryAfter = response.headers.get('retry-after');
  const calls = (server?.calls ?? []).filter(({ messages }) => JSON.stringify(messages).includes(question)).length;
  if (response.headers.get('content-type')?.includes('event-stream')) {
    const data = sent.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
    const chunks = data
      .filter((one) => one !== '[DONE]')
      .map((one) => JSON.parse(one) as { error?: Seen['error']; choices?: { delta?: { content?: string } }[] });
    const text = chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('');
    const failure = chunks.map(({ error: said }) => said ?? null).find(Boolean) ?? null;
    return { status: response.status, error: failure, text, isDone: data.includes('[DONE]'), calls, retryAfter };
  }
  const body = JSON.parse(sent) as { error?: Seen['error']; choices?: { message: { content: string } }[] };
  return {
    status: response.status,
    error: body.error ?? null,
    text: body.choices?.[0]?.message.content ?? '',
    isDone: false,
    calls,
    retryAfter,
  };
}

describe.each([false, true])('a template whose model server fails (stream: %s)', (stream) => {
  it.each<[Provider, number, string, RegExp, number]>([
    ['strict', 502, 'PROVIDER_UNAUTHENTICATED', /rejected the API key\. Check the variable/, 2],
    ['missing', 502, 'PROVIDER_MODEL_UNKNOWN', /correct its name in the configuration\..*model `m` does not exist/, 2],
    ['busy', 429, 'rate_limit_exceeded', /It asks for a wait of 600 s\./, 2],
    // Four attempts for the planner, and four for the model that answers without a plan.
    ['broken', 502, 'PROVIDER_FAILED', /Internal server error/, 8],
    ['down', 502, 'PROVIDER_UNREACHABLE', /Check that it runs.*nothing listens at its address/, 0],
    ['silent', 504, 'CALL_TIMEOUT', /sent nothing for 1 s, the time limit of the call\. Check that it is not stuck/, 2],
  ])('fails and says what to do: %s', async (provider, status, code, sentence, calls) => {
    const { error: failure, ...rest } = await seen.get(`${provider} ${stream}`)!;
    expect([failure?.code, rest.text, rest.calls]).toEqual([code, '', calls]);
    expect(failure!.message).toMatch(sentence);
    // A stream that has begun ends with the error, and not as if it were whole.
    expect([rest.status, rest.isDone]).toEqual([stream ? 200 : status, false]);
    // The server asks for ten minutes; clients ignore more than one.
    expect(rest.retryAfter).toBe(provider === 'busy' && !stream ? '60' : null);
  });

  it('uses what was found before it failed, and says that no model wrote the answer', async () => {
    const { error: failure, text } = await seen.get(`planning ${stream}`)!;
    expect(failure).toBeNull();
    expect(text).toContain('It is red.');
    expect(text).toMatch(/could not be written by a model \(The model server failed\. Provider planning, status 500/);
  });
});

describe('a model that its server does not have', () => {
  it('is unknown to the client that names it, and a mistake of the configuration behind another name', async () => {
    expect(await asked('m@missing', false)).toMatchObject({ status: 404, error: { code: 'model_not_found' } });
    expect(await asked('chat', false)).toMatchObject({ status: 502, error: { code: 'PROVIDER_MODEL_UNKNOWN' } });
  });
});
