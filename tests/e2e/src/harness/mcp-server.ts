import { StoppableServer, type ReceivedRequest, type Served } from './stoppable-server.js';

type Arguments = Readonly<Record<string, unknown>>;

/** Its result, a text of its own, the sentence with which it refuses, or no answer at all. */
export type ToolSays = object | { readonly plain: string } | { readonly refused: string } | 'held' | 'cut';

/** A tool of an invented world. */
export interface WorldTool {
  readonly description: string;
  /** JSON Schemas of its arguments. */
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  /** Whether it declares that it changes nothing. */
  readonly readOnly?: boolean;
  run(args: Arguments): ToolSays | Promise<ToolSays>;
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name: string; readonly arguments?: Arguments };
}

/** An MCP server over streamable HTTP, without sessions. If `header` is set, requests without its value are refused. */
export function mcpServer(
  name: string,
  tools: Readonly<Record<string, WorldTool>>,
  header?: { readonly name: string; readonly value: string },
): Promise<StoppableServer> {
  const listed = Object.entries(tools).map(([tool, { description, properties, required = [], readOnly }]) => ({
    name: tool,
    description,
    inputSchema: { type: 'object', properties, required },
    ...(readOnly ? { annotations: { readOnlyHint: true } } : {}),
  }));
  const capabilities = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name, version: '1' } };
  return StoppableServer.start(async ({ method, body, headers }: ReceivedRequest): Promise<Served> => {
    if (header && headers[header.name] !== header.value) return { status: 401, body: {} };
    if (method !== 'POST') return { status: 405, body: {} };
    const { id, method: asked, params } = JSON.parse(body) as Message;
    const result = (value: object): Served => ({ body: { jsonrpc: '2.0', id, result: value } });
    switch (asked) {
      case 'initialize':
        return result(capabilities);
      case 'tools/list':
        return result({ tools: listed });
      case 'tools/call': {
        const said = await tools[params!.name]!.run(params!.arguments ?? {});
        return said === 'held' || said === 'cut' ? said : result(contentOf(said));
      }
      default:
        return id === undefined ? { status: 202, body: '', type: 'text/plain' } : result({});
    }
  });
}

function contentOf(said: object): object {
  if ('refused' in said) return { isError: true, content: [{ type: 'text', text: String(said.refused) }] };
  if ('plain' in said) return { content: [{ type: 'text', text: String(said.plain) }] };
  return { structuredContent: said, content: [{ type: 'text', text: JSON.stringify(said) }] };
}
