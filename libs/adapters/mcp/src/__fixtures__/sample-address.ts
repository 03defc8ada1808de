import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { MemoryTool } from '@conclave/ports';

/** A web server on a free port of the loopback address. */
export class LocalAddress {
  private server: HttpServer | null = null;
  private port = 0;
  constructor(private readonly listener: RequestListener) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }
  async start(): Promise<this> {
    const server = createServer(this.listener);
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
    return this;
  }
  /** Cuts every connection, as if its process had died. */
  async stop(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (!server) return;
    await new Promise<unknown>((resolve) => (server.close(resolve), server.closeAllConnections()));
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface SampleAddress {
  readonly address: LocalAddress;
  /** Headers of the last request. */
  headers(): IncomingMessage['headers'];
  /** Forgets every session, as after a restart. */
  forget(): void;
  /** Notifies every client that the tools have changed. */
  toolsChanged(): Promise<void>;
}

/** `json`: streamable HTTP with plain JSON answers instead of a stream. */
export type SampleForm = 'streamable' | 'json' | 'sse';

/** Serves tools with the SDK's server, with sessions. */
export function sampleAddress(tools: () => Readonly<Record<string, MemoryTool>>, form: SampleForm = 'streamable'): SampleAddress {
  const sessions = new Map<string, { readonly server: Server; readonly transport: StreamableHTTPServerTransport | SSEServerTransport }>();
  let headers: IncomingMessage['headers'] = {};

  async function newSession(): Promise<StreamableHTTPServerTransport> {
    const server = serverOf(tools);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: form === 'json',
      onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
    });
    await server.connect(transport);
    return transport;
  }

  const streamable: Handler = async (request, response) => {
    const id = request.headers['mcp-session-id'];
    if (typeof id === 'string' && !sessions.has(id)) return void response.writeHead(404).end('no such session');
    const transport = typeof id === 'string' ? sessions.get(id)!.transport : await newSession();
    await (transport as StreamableHTTPServerTransport).handleRequest(request, response);
  };

  const sse: Handler = async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
    if (pathname === '/mcp' && request.method === 'GET') {
      const server = serverOf(tools);
      const transport = new SSEServerTransport('/messages', response);
      sessions.set(transport.sessionId, { server, transport });
      return server.connect(transport);
    }
    if (pathname === '/mcp') return void response.writeHead(405).end();
    const session = sessions.get(searchParams.get('sessionId') ?? '');
    if (!session) return void response.writeHead(404).end('no such session');
    await (session.transport as SSEServerTransport).handlePostMessage(request, response);
  };

  const handle: Handler = (request, response) => {
    headers = request.headers;
    return form === 'sse' ? sse(request, response) : streamable(request, response);
  };

  return {
    address: new LocalAddress(
      (request, response) => void handle(request, response).catch((error: unknown) => response.destroy(error as Error)),
    ),
    headers: () => headers,
    forget: () => sessions.clear(),
    async toolsChanged() {
      for (const { server } of sessions.values()) await server.sendToolListChanged();
    },
  };
}

function serverOf(tools: () => Readonly<Record<string, MemoryTool>>): Server {
  const server = new Server({ name: 'sample', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools()).map(([name, { description, inputSchema, repeatable }]) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: 'object' as const },
      annotations: repeatable ? { readOnlyHint: true } : {},
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }): Promise<CallToolResult> => {
    const said = await tools()[params.name]!.run(params.arguments ?? {}, signal);
    if (typeof said === 'string') return { content: [{ type: 'text', text: said }] };
    return {
      content: said.content ? [{ type: 'text', text: said.content }] : [],
      isError: said.isError ?? false,
      ...(said.structured ? { structuredContent: said.structured as Record<string, unknown> } : {}),
    };
  });
  return server;
}
