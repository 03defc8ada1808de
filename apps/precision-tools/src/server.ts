import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  InitializeRequestSchema,
  isJSONRPCRequest,
  ListToolsRequestSchema,
  type CallToolResult,
  type JSONRPCMessage,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { Toolbox, ToolDeclaration } from './tools/index.js';
import * as z from 'zod';

export const serverInfo = { name: 'conclave-precision-tools', version: '0.1.0' };

const instructions =
  'Deterministic tools. Call them for every calculation, date, unit, amount of money, hash, subnet, count or quotation of German law instead of answering from memory. An error says what to change.';

/** Draft 7, which every client understands. Defaults stay optional in the input of a caller. */
const jsonSchema = (schema: z.ZodType, io: 'input' | 'output') => z.toJSONSchema(schema, { target: 'draft-7', io, unrepresentable: 'any' });

/** The answer to `tools/list`, created at the first request. */
export function listedTools({ tools }: Toolbox): () => Tool[] {
  let listed: Tool[] | undefined;
  return () => (listed ??= tools.map(declared));
}

const declared = ({ name, title, description, input, output }: ToolDeclaration): Tool => ({
  name,
  title,
  description,
  inputSchema: jsonSchema(input, 'input') as Tool['inputSchema'],
  outputSchema: jsonSchema(output, 'output') as Tool['outputSchema'],
  annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: name.startsWith('legal_') },
});

/**
 * One MCP server over the tools; each transport needs one. The plain `Server` of the SDK is used because its high-level one checks
 * arguments itself, with messages that are less helpful to a model.
 */
export function openServer(toolbox: Toolbox, listed: () => Tool[]): Server {
  const server = new Server(serverInfo, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    if (params?.cursor !== undefined) throw invalidParams('The list of tools has one page. Ask for it without a cursor.');
    return { tools: listed() };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const outcome = await toolbox.call(params.name, params.arguments);
    // The protocol wants an error of its own for a tool that does not exist, and a result for a tool that fails.
    if (!outcome.ok && outcome.code === 'UNKNOWN_TOOL') throw invalidParams(outcome.message);
    if (!outcome.ok) return { isError: true, content: [{ type: 'text', text: `${outcome.code}: ${outcome.message}` }] };
    return { structuredContent: outcome.output, content: [{ type: 'text', text: JSON.stringify(outcome.output) }] };
  });
  return server;
}

/** Not McpError, whose message would begin with its code twice. */
const invalidParams = (message: string): Error => Object.assign(new Error(message), { code: ErrorCode.InvalidParams });

const requests = { initialize: InitializeRequestSchema, 'tools/list': ListToolsRequestSchema, 'tools/call': CallToolRequestSchema };

/**
 * Connects a server, and answers requests whose parameters have the wrong shape with a sentence. The SDK would call them an internal error
 * of ours, and send its validator's report.
 */
export async function connect(server: Server, transport: Transport): Promise<void> {
  await server.connect(transport);
  const pass = transport.onmessage!;
  transport.onmessage = (message, extra) => {
    const mistakes = mistakesIn(message);
    if (mistakes === null || !isJSONRPCRequest(message)) return pass(message, extra);
    const error = { code: ErrorCode.InvalidParams, message: `Invalid ${message.method} request: ${mistakes}` };
    transport.send({ jsonrpc: '2.0', id: message.id, error }).catch((failure: Error) => transport.onerror?.(failure));
  };
}

function mistakesIn(message: JSONRPCMessage): string | null {
  if (!isJSONRPCRequest(message) || !Object.hasOwn(requests, message.method)) return null;
  const { error } = requests[message.method as keyof typeof requests].safeParse(message);
  if (!error) return null;
  return error.issues
    .slice(0, 3)
    .map(({ path, message: what }) => `${path.join('.')}: ${what}`)
    .join('; ');
}
