import { openLogger, type LogLine } from '@conclave/platform';
import type { Failure } from '@conclave/contracts';
import type { ToolReply, ToolServers } from '@conclave/ports';
import { openToolServers, type ToolServersOptions } from '../open-tool-servers.js';

const opened: ToolServers[] = [];

/** Closes what `open` opened; for `afterEach`. */
export async function closeOpened(): Promise<void> {
  await Promise.all(opened.splice(0).map((tools) => tools.close()));
}

export interface Opened {
  readonly tools: ToolServers;
  readonly log: readonly LogLine[];
  call(tool: string, args?: Record<string, unknown>, more?: { signal?: AbortSignal; timeoutMs?: number }): Promise<ToolReply>;
  failure(tool: string, args?: Record<string, unknown>, more?: { signal?: AbortSignal; timeoutMs?: number }): Promise<Failure>;
}

/** Opens tool servers, with their log and shorthands to call them. */
export function open(servers: ToolServersOptions['servers'], more: Partial<ToolServersOptions> = {}): Opened {
  const log: LogLine[] = [];
  const logger = openLogger({ level: 'debug', sinks: [{ write: (line) => void log.push(line), close: () => {} }] });
  const tools = openToolServers({ servers, environment: process.env, logger, ...more });
  opened.push(tools);
  const call: Opened['call'] = (tool, args = {}, { signal = new AbortController().signal, timeoutMs = 20_000 } = {}) =>
    tools.call({ tool, args, signal, timeoutMs });
  return {
    tools,
    log,
    call,
    failure: (...asked) =>
      call(...asked).then(
        (reply) => Promise.reject(new Error(`It did not fail: ${JSON.stringify(reply).slice(0, 200)}`)),
        (error: unknown) => error as Failure,
      ),
  };
}

/** Whether a process with this id runs. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
