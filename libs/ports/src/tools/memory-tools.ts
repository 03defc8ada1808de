import { Failure } from '@conclave/contracts';
import { toolCalled } from './tool-names.js';
import { isJsonObject, signatureOf } from './tool-signature.js';
import { boundedText, oneLine } from './tool-text.js';
import {
  longestToolDescription,
  type JsonObject,
  type ToolCall,
  type ToolDescription,
  type ToolReply,
  type ToolServers,
  type ToolServerStatus,
} from './tools.js';

export interface MemoryTool {
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly repeatable?: boolean;
  /** A returned string is the reply's content. Any error it throws becomes TOOL_FAILED. */
  run(args: JsonObject, signal: AbortSignal): Promise<string | Partial<ToolReply>>;
}

/** Tools that are functions of this process. Checks only required arguments and their plain types against schemas. */
export class MemoryToolServers implements ToolServers {
  private closed = false;

  /** Server name -> its tools, or null for an unavailable server. */
  constructor(private readonly servers: Readonly<Record<string, Readonly<Record<string, MemoryTool>> | null>>) {}

  async offers(): Promise<readonly ToolDescription[]> {
    const tools = this.closed ? [] : [...this.known()].map(([name, tool]) => offer(name, tool));
    return tools.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async describe(tool: string): Promise<ToolDescription> {
    return offer(...this.find(tool));
  }

  async call({ tool, args, signal, timeoutMs }: ToolCall): Promise<ToolReply> {
    if (signal.aborted) throw new Failure('CALL_CANCELLED');
    const [name, found] = this.find(tool);
    const problem = problemOf(args, found.inputSchema);
    if (problem) throw new Failure('TOOL_ARGUMENTS_INVALID', `${problem} Expected: ${signatureOf(found.inputSchema)}`);
    const over = AbortSignal.timeout(timeoutMs);
    const ended = AbortSignal.any([signal, over]);
    const stopped = new Promise<never>((_resolve, reject) =>
      ended.addEventListener('abort', () => reject(new Failure(signal.aborted ? 'CALL_CANCELLED' : 'CALL_TIMEOUT')), { once: true }),
    );
    const running = found.run(args, ended).catch((error: unknown) => {
      if (error instanceof Failure) throw error;
      throw new Failure('TOOL_FAILED', `\`${name}\`: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    });
    const said = await Promise.race([stopped, running]);
    const reply = typeof said === 'string' ? { content: said } : said;
    return { content: boundedText(reply.content ?? ''), structured: reply.structured ?? null, isError: reply.isError ?? false };
  }

  status(): readonly ToolServerStatus[] {
    return Object.entries(this.servers).map(([name, tools]) =>
      tools && !this.closed
        ? { name, ok: true, error: null, tools: Object.keys(tools).length }
        : { name, ok: false, error: 'It is away.', tools: 0 },
    );
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  private find(tool: string): readonly [name: string, tool: MemoryTool] {
    const away = Object.entries(this.servers).find(([name, tools]) => (this.closed || !tools) && tool.startsWith(`${name}.`));
    if (away) throw new Failure('TOOL_SERVER_UNAVAILABLE', `\`${away[0]}\` is away.`);
    const known = this.known();
    const name = toolCalled(tool, [...known.keys()]);
    return [name, known.get(name)!];
  }

  private known(): ReadonlyMap<string, MemoryTool> {
    const known = new Map<string, MemoryTool>();
    for (const [server, tools] of Object.entries(this.servers))
      for (const [name, tool] of Object.entries(tools ?? {})) known.set(`${server}.${name}`, tool);
    return known;
  }
}

const offer = (name: string, tool: MemoryTool): ToolDescription => ({
  name,
  description: oneLine(tool.description, longestToolDescription),
  signature: signatureOf(tool.inputSchema),
  inputSchema: tool.inputSchema,
  repeatable: tool.repeatable ?? false,
});

function problemOf(args: JsonObject, schema: JsonObject): string | null {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  for (const name of Array.isArray(schema.required) ? (schema.required as string[]) : [])
    if (!Object.hasOwn(args, name)) return `\`${name}\` is missing.`;
  for (const [name, value] of Object.entries(args)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isJsonObject(property) && typeof property.type === 'string' && !fits(value, property.type))
      return `\`${name}\` must be ${property.type}.`;
  }
  return null;
}

function fits(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isJsonObject(value);
  return type === 'null' ? value === null : typeof value === type;
}
