import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HistoryWriter } from '../history.js';
import { writeReply, type Sent } from './reply-writer.js';
import { matches, textOf, type ScriptedRequest, type ScriptedStep } from './script.js';

/** What the server recorded about one call. Times are milliseconds since 1970. */
export interface ServedCall {
  readonly n: number;
  readonly at: number;
  readonly model: string;
  readonly messages: ScriptedRequest['messages'];
  readonly body: ScriptedRequest['body'];
  readonly headers: ScriptedRequest['headers'];
  /** Name of the step that answered, or null. */
  readonly step: string | null;
  /** When the caller closed the connection before the reply was complete. */
  abortedAt: number | null;
  /** When the reply was completely sent, or cut off by the script. */
  finishedAt: number | null;
}

export interface ScriptedModelServerOptions {
  readonly script?: readonly ScriptedStep[];
  /** Ids of GET /v1/models. */
  readonly models?: readonly string[];
  /** Refuses calls without this key, as a real server would. */
  readonly apiKey?: string;
  readonly history?: HistoryWriter;
  /** 0 = a free one. A server that is started again on its old port simulates an outage. */
  readonly port?: number;
}

/**
 * OpenAI-compatible server that answers from a script. A call that no step answers gets status 500 and is a violation:
 * `expectCalls` throws while there is one, so a test cannot pass with unscripted answers.
 */
export class ScriptedModelServer {
  /** Remembered after `close`, so that `reopen` can use it again. */
  port = 0;
  readonly calls: ServedCall[] = [];
  /** Requests other than chat completions, such as `GET /v1/models`. */
  readonly otherRequests: string[] = [];
  private readonly faults: string[] = [];
  private readonly steps: { readonly step: ScriptedStep; used: number }[];

  private constructor(
    private readonly server: Server,
    private readonly options: ScriptedModelServerOptions,
  ) {
    this.steps = (options.script ?? []).map((step) => ({ step, used: 0 }));
  }

  static async start(options: ScriptedModelServerOptions = {}): Promise<ScriptedModelServer> {
    const server = createServer();
    const scripted = new ScriptedModelServer(server, options);
    server.on('request', (request, response) => {
      scripted.serve(request, response).catch((error: unknown) => {
        scripted.faults.push(`The server failed: ${String(error)}`);
        response.destroy();
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, '127.0.0.1', resolve);
    });
    scripted.port = (server.address() as AddressInfo).port;
    return scripted;
  }

  /** Base URL for clients, with /v1. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }
  /** Sentences about unscripted calls; empty at the end of a good test. */
  violations(): readonly string[] {
    return this.faults;
  }
  /** Steps with answers left, not counting `Infinity`. */
  unused(): readonly string[] {
    return this.steps
      .filter(({ step, used }) => (step.times ?? 1) !== Infinity && used < (step.times ?? 1))
      .map(({ step }) => nameOf(step));
  }
  /** Adds steps while the server runs; earlier steps are tried first. */
  add(...steps: readonly ScriptedStep[]): void {
    this.steps.push(...steps.map((step) => ({ step, used: 0 })));
  }
  /** Throws unless exactly `n` calls were made, all of them answered by the script. */
  expectCalls(n: number): void {
    const seen = this.calls.map(
      (call) => `  ${call.n}. ${call.model}: ${call.step ?? 'not scripted'}${call.abortedAt ? ' (aborted)' : ''}`,
    );
    if (this.faults.length > 0) throw new Error(`The model server received calls that no step answers:\n${this.faults.join('\n')}`);
    if (this.calls.length !== n) throw new Error(`Expected ${n} model calls, saw ${this.calls.length}:\n${seen.join('\n')}`);
  }
  /** Closes every connection. Safe to call twice. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  /** Listens on its old port again after `close`, with the same script: the end of an outage. */
  async reopen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(this.port, '127.0.0.1', resolve);
    });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0];
    const body = await bodyOf(request);
    if (this.options.apiKey !== undefined && request.headers.authorization !== `Bearer ${this.options.apiKey}`)
      return json(response, 401, {
        error: { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' },
      });
    if (request.method === 'POST' && path === '/v1/chat/completions') return this.complete(request, response, body);
    this.otherRequests.push(`${request.method} ${path}`);
    if (request.method === 'GET' && path === '/v1/models')
      return json(response, 200, {
        object: 'list',
        data: (this.options.models ?? ['scripted']).map((id) => ({ id, object: 'model', created: 0, owned_by: 'test' })),
      });
    json(response, 404, { error: { message: 'not found', type: 'not_found_error' } });
  }

  private async complete(http: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    const n = this.calls.length + 1;
    const body = JSON.parse(text) as Record<string, unknown>;
    const request: ScriptedRequest = {
      n,
      model: String(body['model']),
      messages: (body['messages'] ?? []) as ScriptedRequest['messages'],
      stream: body['stream'] === true,
      headers: http.headers,
      body,
    };
    const found = this.steps.find(({ step, used }) => used < (step.times ?? 1) && matches(step.match, request));
    const call: ServedCall = {
      n,
      at: Date.now(),
      model: request.model,
      messages: request.messages,
      body,
      headers: http.headers,
      step: found ? nameOf(found.step) : null,
      abortedAt: null,
      finishedAt: null,
    };
    this.calls.push(call);
    const id = `call-${n}`;
    this.options.history?.write('model.call', 'invoke', id, { model: call.model, step: call.step });
    if (!found) {
      const fault = `Call ${n} (${request.model}) has no step left that matches: ${describe(request)}`;
      this.faults.push(fault);
      this.options.history?.write('model.call', 'fail', id, { reason: 'unscripted' });
      call.finishedAt = Date.now();
      return json(response, 500, { error: { message: `Not scripted. ${fault}`, type: 'unscripted' } });
    }
    found.used += 1;
    const reply = typeof found.step.reply === 'function' ? found.step.reply(request) : found.step.reply;
    this.settle(call, id, await writeReply(response, request, reply), 'status' in reply ? reply.status : 200);
  }

  private settle(call: ServedCall, id: string, { ending, usage }: Sent, status: number): void {
    if (ending === 'left') call.abortedAt = Date.now();
    else call.finishedAt = Date.now();
    const phase = ending === 'finished' && status < 400 ? 'ok' : 'fail';
    this.options.history?.write('model.call', phase, id, { ending, status, ...usage });
  }
}

const nameOf = (step: ScriptedStep): string =>
  step.name ?? (typeof step.match === 'string' ? step.match : String(JSON.stringify(step.match) ?? 'predicate'));

const describe = (request: ScriptedRequest): string =>
  request.messages.map((message) => `[${message.role}] ${textOf(message.content).slice(0, 160).replaceAll('\n', ' ⏎ ')}`).join(' | ');

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
