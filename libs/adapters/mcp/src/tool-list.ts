import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { longestToolDescription, oneLine, signatureOf, type JsonObject } from '@conclave/ports';
import * as z from 'zod';
import { SchemaCheck } from './argument-check.js';
import type { ServerBounds } from './bounds.js';

/** The used parts of a server's tool. */
export interface ListedTool {
  /** Its name on its server. */
  readonly name: string;
  readonly description: string;
  readonly signature: string;
  readonly inputSchema: JsonObject;
  readonly input: SchemaCheck;
  readonly output: SchemaCheck | null;
  readonly repeatable: boolean;
  /** The server declares that the tool changes nothing. */
  readonly readOnly: boolean;
}

/** Tools are parsed one by one, so that an invalid tool does not cost the others. */
export const ToolPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** The protocol's recommendation (SEP-986), plus `/`, which servers also use. */
const toolName = /^[A-Za-z0-9._/-]{1,128}$/;

/** All tools of a server, page by page. `left`: sentences on what was left out and why. Throws what `ask` throws. */
export async function listTools(
  ask: (cursor: string | undefined) => Promise<z.infer<typeof ToolPage>>,
  bounds: ServerBounds,
): Promise<{ readonly tools: ReadonlyMap<string, ListedTool>; readonly left: readonly string[] }> {
  const tools = new Map<string, ListedTool>();
  const left = new Set<string>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let looked = 0;
  for (let page = 1; ; page += 1) {
    const { tools: listed, nextCursor } = await ask(cursor);
    for (const one of listed) {
      looked += 1;
      // Invalid tools cost time too.
      if (tools.size >= bounds.tools || looked > 4 * bounds.tools) {
        left.add(`Its list is longer than ${bounds.tools} tools.`);
        return { tools, left: [...left] };
      }
      const tool = read(one, bounds);
      if (typeof tool === 'string') left.add(tool);
      else if (tools.has(tool.name)) left.add(`Two of its tools are called ${tool.name}; the first one counts.`);
      else tools.set(tool.name, tool);
    }
    if (nextCursor === undefined || nextCursor === '') return { tools, left: [...left] };
    if (page === bounds.pages || cursors.has(nextCursor)) {
      left.add(cursors.has(nextCursor) ? 'The pages of its list form a loop.' : `Its list has more than ${bounds.pages} pages.`);
      return { tools, left: [...left] };
    }
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}

function read(value: unknown, bounds: ServerBounds): ListedTool | string {
  const { data: tool } = ToolSchema.safeParse(value);
  if (!tool) return 'A tool of its list is invalid.';
  const { name, description, title, inputSchema, outputSchema, annotations, execution } = tool;
  if (!toolName.test(name)) return `The name ${JSON.stringify(oneLine(name, 40))} of a tool contains invalid characters.`;
  if (execution?.taskSupport === 'required') return `${name} runs only as a task of the protocol, which is not supported.`;
  if (sizeOf(inputSchema) + sizeOf(outputSchema) > bounds.schemaBytes)
    return `The schema of ${name} is longer than ${bounds.schemaBytes} bytes.`;
  return {
    name,
    description: oneLine(description ?? title ?? annotations?.title ?? '', longestToolDescription),
    signature: signatureOf(inputSchema),
    inputSchema,
    input: new SchemaCheck(inputSchema, bounds.schemaMs),
    output: outputSchema ? new SchemaCheck(outputSchema, bounds.schemaMs) : null,
    readOnly: annotations?.readOnlyHint === true,
    repeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
  };
}

/** Characters of a value as JSON; Infinity if nested too deeply. */
function sizeOf(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch (error) {
    if (error instanceof RangeError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
