import type { RequestListener, ServerResponse } from 'node:http';
import { LocalAddress } from './sample-address.js';

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly protocolVersion: string };
}

/** What a stream gets to do with a message. */
export interface Stream {
  /** Its response, for anything that is not an event with a message. */
  readonly response: ServerResponse;
  answer(id: number | undefined, result: object): void;
  /** Position among the streams that were opened, from 1. */
  readonly number: number;
}

export interface RudeStreamOptions {
  /** Text of the event `endpoint`, and the path and query at which messages are taken. */
  readonly endpoint?: string;
  readonly takesAt?: string;
  /** What the address answers to a POST, as it has no streamable HTTP. */
  readonly refuse?: RequestListener;
  /** Before a message is taken: returns whether that is all. */
  readonly post?: RequestListener extends (request: infer Q, response: infer R) => void
    ? (request: Q, response: R, message: Message) => boolean
    : never;
  /** After the list of tools was sent. */
  readonly listed?: (stream: Stream) => void;
  readonly call?: (stream: Stream, id: number, post: ServerResponse) => void;
}

export interface RudeStream {
  readonly address: LocalAddress;
  readonly url: string;
  /** Method, path and header `x-api-key` of every request. */
  readonly requests: readonly (readonly [string, string, string | undefined])[];
  readonly streams: readonly Stream[];
  /** Streams that their client has left or that have ended. */
  ended(): number;
}

const tools = [{ name: 'tool', inputSchema: { type: 'object', properties: {} } }];
const looking = { name: 'look', inputSchema: { type: 'object', properties: {} }, annotations: { readOnlyHint: true } };

/** A server of the transport HTTP with SSE, written without the SDK, with one tool that may be repeated (`look`) and one that may not. */
export async function rudeStream(options: RudeStreamOptions = {}): Promise<RudeStream> {
  const { endpoint = '/messages?session=1', takesAt = endpoint, post, listed, call } = options;
  const refuse: RequestListener = options.refuse ?? ((_request, response) => void response.writeHead(405).end());
  const requests: (readonly [string, string, string | undefined])[] = [];
  const streams: Stream[] = [];
  let ended = 0;

  const open = (response: ServerResponse): void => {
    const event = (data: string, name = 'message'): void => void response.write(`event: ${name}\r\ndata: ${data}\r\n\r\n`);
    const answer = (id: number | undefined, result: object): void => event(JSON.stringify({ jsonrpc: '2.0', id, result }));
    streams.push({ response, answer, number: streams.length + 1 });
    response.on('close', () => (ended += 1));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\r\n\r\n');
    event(endpoint, 'endpoint');
  };

  const take = ({ id, method, params }: Message, response: ServerResponse): void => {
    const stream = streams.at(-1)!;
    switch (method) {
      case 'initialize':
        stream.answer(id, {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'rude', version: '1' },
        });
        break;
      case 'tools/list':
        stream.answer(id, { tools: [...tools, looking] });
        listed?.(stream);
        break;
      case 'tools/call':
        if (call) return call(stream, id!, response);
        stream.answer(id, { content: [{ type: 'text', text: `by stream ${stream.number}` }] });
        break;
      default:
        if (id !== undefined) stream.answer(id, {});
    }
    response.writeHead(202).end('Accepted');
  };

  const address = await new LocalAddress((request, response) => {
    requests.push([request.method!, request.url!, request.headers['x-api-key'] as string | undefined]);
    if (request.method === 'GET') return open(response);
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const message = JSON.parse(body) as Message;
      if (post?.(request, response, message)) return;
      if (request.url === takesAt && !streams.at(-1)?.response.writableEnded) return take(message, response);
      if (request.url?.endsWith('/sse') || request.url === '/mcp') return refuse(request, response);
      response.writeHead(404).end();
    });
  }).start();
  return { address, url: address.url, requests, streams, ended: () => ended };
}
