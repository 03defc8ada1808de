import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { completed, reply, World } from '../__fixtures__/world.js';

/** The bytes that a connection carried. */
interface Wire {
  text: string;
  /** Code of the error that ended it, `end` for a normal end, null while it is open. */
  ended: string | null;
}

let world: World;
beforeEach(async () => {
  world = await World.open({ limits: { firstHeartbeatMs: 20 } });
});
afterEach(() => world.close());

function sent(path: string, body: object, headers: Record<string, string> = {}): Wire {
  const wire: Wire = { text: '', ended: null };
  const { hostname, port } = new URL(world.url);
  const text = JSON.stringify(body);
  const all = {
    host: 'localhost',
    'content-type': 'application/json',
    'content-length': String(text.length),
    connection: 'close',
    ...headers,
  };
  const socket = connect({ host: hostname, port: Number(port) });
  let hasJustRead = false;
  socket.on('data', (bytes) => {
    wire.text += bytes.toString();
    hasJustRead = true;
    setImmediate(() => (hasJustRead = false));
  });
  // libuv reports a reset as a normal end if bytes arrived together with it; an answer that ends normally has its last chunk.
  socket.on('end', () => (wire.ended ??= hasJustRead && !/\r\n(0\r\n\r\n|\{.*\})$/.test(wire.text) ? 'ECONNRESET' : 'end'));
  socket.on('error', ({ code }: NodeJS.ErrnoException) => (wire.ended ??= code ?? 'error'));
  socket.write(
    `POST ${path} HTTP/1.1\r\n${Object.entries(all)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n${text}`,
  );
  return wire;
}
const headOf = ({ text }: Wire): string => text.slice(0, text.indexOf('\r\n\r\n')).toLowerCase();
/** The body without its chunk framing. */
function bodyOf({ text }: Wire): string {
  let rest = text.slice(text.indexOf('\r\n\r\n') + 4);
  let body = '';
  for (;;) {
    const at = rest.indexOf('\r\n');
    const length = Number.parseInt(rest.slice(0, at), 16);
    if (at < 0 || !(length > 0)) return body;
    body += rest.slice(at + 2, at + 2 + length);
    rest = rest.slice(at + 2 + length + 2);
  }
}
/** Chunks of white space so far. */
const spaces = (wire: Wire): number => /^ */.exec(bodyOf(wire))![0].length;

const messages = [{ role: 'user', content: 'Why is the sky blue?' }];
const on = { conclave: { keep_alive_json: true } };
const apis = {
  '/v1/chat/completions': { messages },
  '/v1/messages': { max_tokens: 500, messages },
  '/v1/responses': { input: 'Why is the sky blue?' },
  '/v1/completions': { prompt: 'Why is the sky blue?' },
} as const;

describe.each(Object.entries(apis))('%s with `keep_alive_json`', (path, question) => {
  it('sends white space until the answer, and the whole body is valid JSON', async () => {
    const wire = sent(path, { model: 'conclave', ...question, ...on });
    await until('white space', () => spaces(wire) > 2);
    const head = headOf(wire);
    expect(head).toContain('http/1.1 200');
    expect(head).toContain('content-type: application/json');
    expect(head).toContain(`x-run-id: ${world.run().toLowerCase()}`);
    expect(head).toContain('x-request-id: ');
    expect(head).toContain('cache-control: no-cache, no-transform');
    expect(head).not.toContain('content-length');
    world.write(completed());
    await until('the end', () => wire.ended !== null);
    expect(wire.ended).toBe('end');
    expect(bodyOf(wire)).toMatch(/^ {3,}\{/);
    const answer = JSON.parse(bodyOf(wire)) as { conclave?: { cost?: number; outcome?: string } };
    expect(JSON.stringify(answer)).toContain('It is blue');
    expect(answer.conclave).toMatchObject({ outcome: 'completed' });
  });

  it('resets the connection when the run fails after the first white space', async () => {
    const wire = sent(path, { model: 'conclave', ...question, ...on });
    await until('white space', () => spaces(wire) > 0);
    world.write(completed({ outcome: 'failed', answer: null, failure: { code: 'INTERNAL', message: 'No.', retriable: false } }));
    await until('the end', () => wire.ended !== null);
    expect(wire.ended).toBe('ECONNRESET');
    expect(bodyOf(wire).trim()).toBe('');
  });
});

describe('a model of a provider', () => {
  it('gets white space too', async () => {
    let answer: (value: ReturnType<typeof reply>) => void = () => undefined;
    world.models.next(() => new Promise((resolve) => (answer = resolve)));
    const wire = sent('/v1/chat/completions', { model: 'm@fake', messages }, { 'x-conclave-keep-alive-json': 'on' });
    await until('white space', () => spaces(wire) > 1);
    expect(headOf(wire)).toContain('x-conclave-model: m@fake');
    answer(reply());
    await until('the end', () => wire.ended !== null);
    expect(JSON.parse(bodyOf(wire))).toMatchObject({ model: 'm@fake', choices: [{ message: { content: 'Hello there' } }] });
  });

  it('that fails after the first white space resets the connection', async () => {
    let fail: (error: Error) => void = () => undefined;
    world.models.next(() => new Promise((_, reject) => (fail = reject)));
    const wire = sent('/v1/chat/completions', { model: 'm@fake', messages, ...on });
    await until('white space', () => spaces(wire) > 0);
    fail(new Failure('PROVIDER_FAILED'));
    await until('the end', () => wire.ended !== null);
    expect(wire.ended).toBe('ECONNRESET');
  });
});

it('no white space is sent unless it was asked for, and a failure is an ordinary error', async () => {
  const wire = sent('/v1/chat/completions', { model: 'conclave', messages });
  await until('the run', () => world.requested().length === 1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(wire.text).toBe('');
  world.write(completed({ outcome: 'failed', answer: null, failure: { code: 'INTERNAL', message: 'No.', retriable: false } }));
  await until('the end', () => wire.ended !== null);
  expect(headOf(wire)).toContain('http/1.1 500');
  expect(headOf(wire)).toContain('content-length');
});

it('an answer that arrives before the first white space has all its headers', async () => {
  await world.close();
  world = await World.open();
  const wire = sent('/v1/chat/completions', { model: 'conclave', messages, ...on });
  await until('the run', () => world.requested().length === 1);
  world.write(completed());
  await until('the end', () => wire.ended !== null);
  expect(headOf(wire)).toMatch(/x-conclave-cost: 0.25[^]*content-length/);
});

it('the operator turns it on for all requests, and a request can turn it off', async () => {
  await world.close();
  world = await World.open({ limits: { firstHeartbeatMs: 20, keepAliveJson: true } });
  const off = sent('/v1/chat/completions', { model: 'conclave', messages }, { 'x-conclave-keep-alive-json': 'off' });
  await until('the run', () => world.requested().length === 1);
  const wire = sent('/v1/chat/completions', { model: 'conclave', messages });
  await until('white space', () => spaces(wire) > 3);
  expect(off.text).toBe('');
});

it('a client that disconnects during it cancels the run', async () => {
  const leaving = new AbortController();
  const response = await world.chat({ stream: false, ...on }, { signal: leaving.signal });
  expect(response.status).toBe(200);
  leaving.abort();
  await until('the cancel', () => world.stores.flagged.has(world.run()));
});

it('a gateway that stops resets the connection, and the run continues', async () => {
  const wire = sent('/v1/chat/completions', { model: 'conclave', messages, ...on });
  await until('white space', () => spaces(wire) > 0);
  const run = world.run();
  await world.app.close();
  await until('the end', () => wire.ended !== null);
  expect([wire.ended, world.stores.flagged.has(run)]).toEqual(['ECONNRESET', false]);
  world = await World.open();
});

it('a value that is neither on nor off is refused', async () => {
  const refused = await world.chat({}, { headers: { 'x-conclave-keep-alive-json': 'maybe' } });
  expect(refused.status).toBe(400);
  expect((await world.chat({ conclave: { keep_alive_json: 'yes' } })).status).toBe(400);
});
