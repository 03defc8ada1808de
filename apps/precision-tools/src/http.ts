import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Toolbox } from './tools/index.js';
import { connect, listedTools, openServer } from './server.js';

export interface HttpOptions {
  host: string;
  /** 0 chooses a free one. */
  port: number;
  /** Further names that are accepted in the Host and Origin headers, without port. */
  allowedHosts?: readonly string[];
  log(line: string): void;
}

export interface HttpService {
  /** Address of the MCP endpoint. */
  url: string;
  close(): Promise<void>;
}

const longestBody = 4 * 1024 * 1024;
const path = '/mcp';

/** The name in "name:port" or "[::1]:port". */
const nameOf = (host: string): string => host.replace(/:\d+$/, '').toLowerCase();

function originName(origin: string): string | null {
  if (!URL.canParse(origin)) return null;
  return new URL(origin).hostname.toLowerCase();
}

function refuse(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  // The rest of an unread body would block the connection.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_600, message }, id: null }));
}

/**
 * Serves MCP as streamable HTTP at /mcp without sessions: each request has a separate server over the shared tools. Requests
 * whose Host or Origin names another machine are refused, so that a page in a browser cannot reach the tools by DNS rebinding.
 */
export async function serveHttp(toolbox: Toolbox, { host, port, allowedHosts = [], log }: HttpOptions): Promise<HttpService> {
  const listed = listedTools(toolbox);
  const names = new Set(
    ['127.0.0.1', 'localhost', '[::1]', ...(host.includes(':') ? [`[${host}]`] : [host]), ...allowedHosts].map((name) =>
      name.toLowerCase(),
    ),
  );

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host: asked = '', origin } = request.headers;
    if (!names.has(nameOf(asked))) return refuse(response, 403, 'This Host is not allowed: start with --allow-host to allow it.');
    if (origin !== undefined && !names.has(originName(origin) ?? '')) return refuse(response, 403, 'This Origin is not allowed.');
    if ((request.url ?? '').split('?')[0] !== path) return refuse(response, 404, `MCP is served at ${path}.`);
    if (request.method !== 'POST') return refuse(response, 405, 'Without sessions only POST is answered.', { allow: 'POST' });
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true, maxRequestBodySize: longestBody });
    const server = openServer(toolbox, listed);
    response.on(
      'close',
      () => void Promise.all([transport.close(), server.close()]).catch((error: Error) => log(`Closing failed: ${error.message}`)),
    );
    await connect(server, transport as Parameters<typeof connect>[1]);
    await transport.handleRequest(request, response);
  }

  const http: Server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      log(`A request failed: ${error.name}`);
      if (!response.headersSent) refuse(response, 500, 'The request failed.');
      else response.destroy();
    });
  });
  http.requestTimeout = 30_000;
  await new Promise<void>((resolve, reject) => http.once('error', reject).listen(port, host, resolve));
  toolbox.warm();
  const { port: taken, address } = http.address() as AddressInfo;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${taken}${path}`,
    close: () => new Promise((resolve) => (http.close(() => resolve()), http.closeAllConnections())),
  };
}
