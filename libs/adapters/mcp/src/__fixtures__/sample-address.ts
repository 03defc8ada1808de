import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
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

export interface SampleAddress {
  readonly address: LocalAddress;
  /** Headers of the last request. */
  headers(): IncomingMessage['headers'];
  /** Forgets every session, as after a restart. */
  forget(): void;
  /** Notifies every client that the tools have changed. */
  toolsChanged(): Promise<void>;
}

/** Serves tools with the SDK's server, with sessions, over streamable HTTP. `json`: plain JSON answers instead of a stream. */
export function sampleAddress(tools: () => Readonly<Record<string, MemoryTool>>, { json = false } = {}): SampleAddress {
  const sessions = new Map<string, { readonly server: Server; readonly transport: StreamableHTTPServerTransport }>();
  let headers: IncomingMessage['headers'] = {};

  async function newSession(): Promise<StreamableHTTPServerTransport> {
    const server = serverOf(tools);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: json,
      onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
    });
    await server.connect(transport);
    return transport;
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    headers = request.headers;
    const id = request.headers['mcp-session-id'];
    if (typeof id === 'string' && !sessions.has(id)) return void response.writeHead(404).end('no such session');
    const transport = typeof id === 'string' ? sessions.get(id)!.transport : await newSession();
    await transport.handleRequest(request, response);
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
