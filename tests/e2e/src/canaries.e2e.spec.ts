import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newProcessId, openLog } from '@conclave/host';
import { loadConfiguration, silentLogger } from '@conclave/platform';
import { until } from '@conclave/test-support';
import {
  byAdmin,
  CommitteeScript,
  expert,
  keptText,
  logText,
  providerKey,
  readRun,
  SseStream,
  System,
  user,
} from '@conclave/test-support/system';
import { StoppableServer } from './harness/stoppable-server.js';

/** Credentials, each with one place where it is allowed. None looks like a key, so that no pattern finds it. */
const secrets = {
  client: 'canary_client_8f31ab',
  url: 'canary_url_09cc2e',
  body: 'canary_body_77d1f0',
  base: 'canary_base_1b64c3',
  cookie: 'canary_cookie_c2a95d',
  wrong: 'canary_wrong_e40f72',
  webhook: 'whsec_Y2FuYXJ5IG9mIHRoZSB3ZWJob29rIHNlY3JldCBrZXk=',
  provider: providerKey,
};
/** Used in prompts, questions and answers: these are stored with their run, and must appear nowhere else. */
const prompt = 'zanzibarquietly';

let system: System;
let receiver: StoppableServer;
/** Everything that clients received except answers. */
const told: string[] = [];
const client = {
  authorization: `Bearer ${secrets.client}`,
  cookie: `session=${secrets.cookie}`,
  'content-type': 'application/json',
};

beforeAll(async () => {
  receiver = await StoppableServer.start(() => ({ status: 500, body: 'no' }));
  system = await System.start({
    configuration: {
      keys: { ann: { key_env: 'KEY_OF_ANN', tenant: 'acme' } },
      webhooks: { ops: { url: `${receiver.url}/ops`, secret_env: 'OPS_SECRET' } },
      webhook_delivery: { attempts: 1, retry_s: 0.1, timeout_s: 5 },
    },
    env: { LOG_LEVEL: 'debug', KEY_OF_ANN: secrets.client, OPS_SECRET: secrets.webhook },
  });
});
afterAll(async () => {
  await system?.stop();
  await receiver?.stop();
});

async function send(path: string, body: object, headers: Record<string, string> = client): Promise<Response> {
  const url = `${system.url()}${path}?api_key=${secrets.url}`;
  const credentials = { api_key: secrets.body, api_base: `http://x:${secrets.base}@127.0.0.1:9/v1`, authorization: secrets.body };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify({ ...body, ...credentials }) });
}
const answered = async (response: Response): Promise<string> => {
  const text = await response.text();
  if (!response.ok) told.push(text);
  return `${response.status} ${text}`;
};
const script = (label: string): CommitteeScript =>
  new CommitteeScript(system.models, `Who keeps quiet, ${prompt}? (${label})`).plan([expert('x1', 'Say it.')]);

/** Every record on the log, decoded, because the files of the data folder contain long ones deflated. The processes have stopped. */
async function recordsOnLog(): Promise<string> {
  const loaded = loadConfiguration({ ...system.environment(), KEY_OF_ANN: secrets.client, OPS_SECRET: secrets.webhook }, system.folder);
  const { log, topics, close } = (await openLog({ loaded, logger: silentLogger, processId: newProcessId('replay') }))!;
  try {
    const read: string[] = [];
    for (const topic of [...topics, 'dead'])
      for await (const { event, headers, raw } of log.read(topic))
        read.push(`${topic} ${JSON.stringify({ event, headers })} ${raw?.toString() ?? ''}`);
    return read.join('\n');
  } finally {
    await close();
  }
}

it('no log, metric, message, store or dead letter contains a credential of a request, a provider or a webhook, and no prompt appears outside its run', async () => {
  const chats = script('chat')
    .expert(`${prompt}.`)
    .answer([`${prompt}.`]);
  const chat = { model: 'conclave-fast', messages: [{ role: 'system', content: `Be brief, ${prompt}.` }, ...user(chats.question)] };
  expect(await answered(await send('/v1/chat/completions', chat))).toMatch(/^200 /);

  const messages = script('messages')
    .expert(`${prompt}.`)
    .answer([`${prompt}.`]);
  const asked = { model: 'conclave-fast', max_tokens: 100, messages: user(messages.question) };
  const byApiKey = { ...client, authorization: '', 'x-api-key': secrets.client };
  expect(await answered(await send('/v1/messages', asked, byApiKey))).toMatch(/^200 /);

  const responses = script('responses')
    .expert(`${prompt}.`)
    .answer([`${prompt}.`]);
  expect(await answered(await send('/v1/responses', { model: 'conclave-fast', input: responses.question }))).toMatch(/^200 /);

  // A model server whose reply always contains the key that it received.
  const failing = script('failing').expertReply(
    { status: 401, body: { error: { message: `Incorrect API key provided: ${providerKey}. Asked: ${prompt}` } } },
    undefined,
    Infinity,
  );
  failing.answer([`${prompt}.`]);
  const started = await send('/v1/runs', { model: 'conclave-fast', input: failing.question, webhook: 'ops' });
  expect(started.status).toBe(202);
  const { id } = (await started.json()) as { id: string };
  const run = await until('the end of the run', async () => {
    const view = await readRun(system.url(), id, client);
    return view.terminal && view;
  });
  const direct = { model: 'scripted@fake', messages: user(failing.question) };
  told.push(await answered(await send('/v1/chat/completions', direct)));
  told.push(await answered(await send('/v1/chat/completions', { model: `x@${prompt}`, messages: 7 })));
  expect(
    await answered(
      await send('/v1/runs', { model: 'conclave-fast', input: prompt }, { ...client, authorization: `Bearer ${secrets.wrong}` }),
    ),
  ).toMatch(/^401 /);

  const made = await fetch(`${system.url()}/v1/admin/keys`, {
    method: 'POST',
    headers: { ...byAdmin, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'issued' }),
  });
  const issued = ((await made.json()) as { key: string }).key;
  expect((await fetch(`${system.url()}/v1/runs`, { headers: { 'x-api-key': issued } })).status).toBe(200);

  const letters = await until(
    'the dead letter of the webhook',
    async () => {
      const text = await (await fetch(`${system.url()}/v1/admin/dead-letters`, { headers: byAdmin })).text();
      return text.includes('webhook') && text;
    },
    { timeoutMs: 30_000, everyMs: 200 },
  );
  const events = await SseStream.open(`${system.url()}/v1/runs/${id}/events`, { headers: client });
  await events.end();
  const metrics = await Promise.all(system.metricUrls().map(async (url) => (await fetch(`${url}/metrics`, { headers: byAdmin })).text()));
  const whileRunning = await keptText(system);
  await Promise.all([...system.all().values()].map((process) => process.stop()));

  const seen: Readonly<Record<string, string>> = {
    output: logText(system),
    metrics: metrics.join('\n'),
    told: told.join('\n'),
    letters,
    views: JSON.stringify(run),
    stream: JSON.stringify(events.events),
    rows: whileRunning,
    records: await recordsOnLog(),
    upstream: JSON.stringify(system.models.calls.map(({ body, messages: sent }) => ({ body, sent }))),
  };
  // Checks that the inspected places would indeed contain a leak.
  for (const place of ['rows', 'records', 'upstream']) expect([place, seen[place]!.includes(prompt)]).toEqual([place, true]);
  expect([seen['output']!.includes('run accepted'), seen['metrics']!.includes('conclave_runs_total'), told.length > 3]).toEqual([
    true,
    true,
    true,
  ]);
  expect(seen['records']).toContain('dead ');
  for (const [name, secret] of Object.entries({ ...secrets, issued }))
    for (const [place, text] of Object.entries(seen)) expect([name, place, text.includes(secret)]).toEqual([name, place, false]);
  for (const place of ['output', 'metrics', 'told', 'letters']) expect([place, seen[place]!.includes(prompt)]).toEqual([place, false]);
});
