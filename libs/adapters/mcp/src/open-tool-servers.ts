import { performance } from 'node:perf_hooks';
import pTimeout from 'p-timeout';
import { Failure } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import { signatureOf, toolCalled, type ToolDescription, type ToolServers } from '@conclave/ports';
import { usualBounds, type ServerBounds } from './bounds.js';
import { launchOf, type BuiltinServer, type ConfiguredServers } from './launch-plan.js';
import type { ListedTool } from './tool-list.js';
import { ToolServer } from './tool-server.js';

export interface ToolServersOptions {
  /** The section `mcp` of the configuration. */
  readonly servers: ConfiguredServers;
  /** Variables of this process; a program gets PATH, HOME and those its `env` names. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Programs that ship with the product, by their `builtin` name. */
  readonly builtins?: Readonly<Record<string, BuiltinServer>>;
  /** Working directory of programs; paths in their arguments are relative to it. Default: that of this process. */
  readonly folder?: string;
  readonly logger: Logger;
  readonly bounds?: Partial<ServerBounds>;
}

/** Longest description of an argument that a refusal repeats, in characters: more than the offer, because the offer was not enough. */
const longestNote = 160;

interface Found {
  readonly server: ToolServer;
  readonly tool: ListedTool;
}

/**
 * Tools of MCP servers: programs over standard input and output, addresses over streamable HTTP or HTTP with SSE. Servers are started or
 * connected on the first request for their tools. Forbidden or incomplete configuration is logged as a warning.
 */
export function openToolServers({ servers, environment, builtins = {}, folder, logger, bounds: some }: ToolServersOptions): ToolServers {
  const bounds: ServerBounds = { ...usualBounds, ...some };
  const sources = { environment, builtins, ...(folder === undefined ? {} : { folder }) };
  const all = Object.entries(servers).map(([name, server]) => {
    const launch = launchOf(name, server, sources);
    if (launch.kind === 'refused') logger.warn(launch.reason);
    return new ToolServer(name, launch, bounds, logger);
  });
  let closing: Promise<void> | null = null;
  // Programs lead their own process groups, so the end of this process would not stop them.
  const killAll = (): void => all.forEach(({ pid }) => pid !== null && killGroup(pid));
  process.on('exit', killAll);

  async function listed(): Promise<ReadonlyMap<string, Found>> {
    const found = new Map<string, Found>();
    const lists = all.map((server) => {
      const wait = server.wasAway ? 0 : bounds.offersMs;
      return inTime(
        server.tools().then((tools) => ({ server, tools })),
        wait,
      );
    });
    for (const list of await Promise.all(lists))
      for (const tool of list?.tools.values() ?? []) found.set(`${list!.server.name}.${tool.name}`, { server: list!.server, tool });
    return found;
  }

  /** Finds a tool by name. Asks only servers whose name matches, unless none of them has the tool. */
  async function find(name: string): Promise<Found> {
    let away: Failure | null = null;
    const candidates = all.filter((server) => name.startsWith(`${server.name}.`)).sort((a, b) => b.name.length - a.name.length);
    for (const server of candidates) {
      try {
        const tool = (await server.tools()).get(name.slice(server.name.length + 1));
        if (tool) return { server, tool };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        away ??= error;
      }
    }
    if (away) throw away;
    const known = await listed();
    if (known.size === 0 && closing) throw new Failure('TOOL_SERVER_UNAVAILABLE', 'Tool servers are closed.');
    return known.get(toolCalled(name, [...known.keys()]))!;
  }

  return {
    async offers() {
      const found = [...(await listed()).entries()].sort(([a], [b]) => (a < b ? -1 : 1));
      return found.map(([name, { tool }]) => ({
        name,
        description: tool.description,
        signature: tool.signature,
        repeatable: tool.repeatable,
        readOnly: tool.readOnly,
      }));
    },

    async describe(name): Promise<ToolDescription> {
      const { server, tool } = await find(name);
      const { description, signature, inputSchema, repeatable, readOnly } = tool;
      return { name: `${server.name}.${tool.name}`, description, signature, inputSchema, repeatable, readOnly };
    },

    async call({ tool: name, args, signal, timeoutMs }) {
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      const until = performance.now() + timeoutMs;
      const { server, tool } = await orEnded(find(name), signal, timeoutMs);
      const size = sizeOf(args);
      if (size > bounds.argumentBytes)
        throw new Failure('TOOL_ARGUMENTS_INVALID', `They are longer than the limit of ${bounds.argumentBytes} bytes.`);
      const problem = tool.input.problem(args);
      if (problem)
        throw new Failure(
          'TOOL_ARGUMENTS_INVALID',
          `\`${server.name}.${tool.name}\`: ${problem} Expected: ${signatureOf(tool.inputSchema, longestNote) || 'no arguments'}`,
        );
      return orEnded(server.call(tool, args, signal, until), signal, until - performance.now());
    },

    status: () => all.map((server) => server.status()),

    close() {
      closing ??= Promise.all(all.map((server) => server.close())).then(() => void process.off('exit', killAll));
      return closing;
    },
  };
}

/** The value, or null when it fails or takes longer than `ms`. */
async function inTime<T>(value: Promise<T>, ms: number): Promise<T | null> {
  try {
    return await pTimeout(value, { milliseconds: Math.max(1, ms), fallback: () => null });
  } catch (error) {
    // Its server keeps the reason for `status()`.
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** The value, or a Failure when the caller cancels or its time is up; the shared connection continues. */
async function orEnded<T>(value: Promise<T>, signal: AbortSignal, ms: number): Promise<T> {
  // 20 ms more, so that the connection reports the timeout of a running call first.
  const milliseconds = Math.max(0, ms) + 20;
  // p-timeout does not handle its rejection if the signal is already aborted.
  value.catch(() => undefined);
  try {
    return await pTimeout(value, { milliseconds, signal, message: new Failure('CALL_TIMEOUT', 'The tool did not answer in time.') });
  } catch (error) {
    throw signal.aborted && !(error instanceof Failure) ? new Failure('CALL_CANCELLED') : error;
  }
}

function sizeOf(args: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(args));
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError)
      throw new Failure('TOOL_ARGUMENTS_INVALID', 'They are not JSON.', { cause: error });
    throw error;
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended by itself.
  }
}
