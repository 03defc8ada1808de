import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type CallToolResult, type Tool } from '@modelcontextprotocol/sdk/types.js';
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
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listed() }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const outcome = await toolbox.call(params.name, params.arguments);
    if (!outcome.ok) return { isError: true, content: [{ type: 'text', text: `${outcome.code}: ${outcome.message}` }] };
    return { structuredContent: outcome.output, content: [{ type: 'text', text: JSON.stringify(outcome.output) }] };
  });
  return server;
}
