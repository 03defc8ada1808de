import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Message } from '../committee/replies.js';
import { emit, hostMethods } from '../processes/worker-host.js';
import { markOf, monotonicMs, stampedToken, workOf, type CallNote } from './protocol.js';
import { scriptedRole, unstreamedAnswer, wholeReply, type Schedule, type ScriptedRole } from './schedule.js';

/**
 * A fake OpenAI-compatible model server with fixed latencies, in its own process so that the benchmark does not delay it. Notifies its
 * parent when a call begins (`begun`) and when its connection is closed before its end (`closed`).
 */
let schedule: Schedule = { firstTokenMs: 0, gapMs: 0, tokens: 1, hang: null };
let calls = 0;

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => response.destroy(error as Error));
});
server.keepAliveTimeout = 60_000;

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request);
  if (request.method === 'GET' && request.url === '/v1/models')
    return json(response, { object: 'list', data: [{ id: 'scripted', object: 'model', created: 0, owned_by: 'bench' }] });
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
    response.writeHead(404).end();
    return;
  }
  const { messages, stream: isStreamed } = JSON.parse(body) as { messages: Message[]; stream?: boolean };
  if (isStreamed !== true) {
    calls += 1;
    return json(response, wholeAnswer);
  }
  const role = scriptedRole(messages);
  const call = (calls += 1);
  const note = (): CallNote => ({ call, role, mark: markOf(body), at: monotonicMs() });
  emit('begun', note());
  response.once('close', () => {
    if (!response.writableFinished) emit('closed', note());
  });
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  await stream(response, role, workOf(body));
}

const wholeAnswer = {
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 0,
  model: 'scripted',
  choices: [{ index: 0, message: { role: 'assistant', content: unstreamedAnswer }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 200, completion_tokens: 200, total_tokens: 400 },
};

/** Milliseconds between signs of life: callers drop a stream that is silent for a minute. */
const signOfLifeMs = 5_000;

async function stream(response: ServerResponse, role: ScriptedRole, workMs: number | null): Promise<void> {
  const { firstTokenMs, gapMs, tokens, hang } = schedule;
  const send = (delta: object, finish: string | null = null): void =>
    void response.write(
      `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  send({ role: 'assistant', content: '' });
  let left = workMs ?? firstTokenMs;
  for (; left > signOfLifeMs && !response.destroyed; left -= signOfLifeMs) {
    await after(signOfLifeMs, response);
    send({ content: ' ' });
  }
  await after(left, response);
  if (role in wholeReply) send({ content: hang === role ? ' ' : wholeReply[role as keyof typeof wholeReply] });
  else send({ content: stampedToken(0, monotonicMs()) });
  if (hang === role) return;
  if (role === 'composer' || role === 'direct') {
    // Timed from the first token, so that one late token does not delay the next.
    const from = monotonicMs();
    for (let index = 1; index < tokens && !response.destroyed; index += 1) {
      await after(from + index * gapMs - monotonicMs(), response);
      send({ content: stampedToken(index, monotonicMs()) });
    }
  }
  if (response.destroyed) return;
  send({}, 'stop');
  response.end('data: [DONE]\n\n');
}

/** Waits `ms`; returns at once when the caller is gone. */
function after(ms: number, response: ServerResponse): Promise<void> {
  if (ms <= 0 || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    }
    response.once('close', done);
  });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

await new Promise<void>((resolve, reject) => {
  server.once('error', reject);
  server.listen(0, '127.0.0.1', resolve);
});

hostMethods(
  {
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    schedule: (next: Schedule) => {
      schedule = next;
    },
    calls: () => calls,
  },
  async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
);
