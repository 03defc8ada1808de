import { lawBase, lawFiles } from '../law/law-files.js';
import { LawLibrary } from '../law/law-library.js';
import { lawTools, type LawTool } from '../law/law-tools.js';
import type { Law, LawEntry } from '../law/read-law.js';
import { Refusal, type RefusalCode } from '../refusal.js';
import type { ToolDeclaration } from '../tool.js';
import { computingTools } from '../tools.js';
import { checkedArguments, unknownTool } from './arguments.js';
import { readingJobs } from './jobs.js';
import { WorkerPool } from './pool.js';

export interface ToolboxOptions {
  /** A file that calls `serveJobs` when it runs in a worker thread. */
  workerFile: URL | string;
  /** Base address of the German laws, such as https://www.gesetze-im-internet.de; without it the law tools say what to set. */
  lawUrl?: string | undefined;
  /** Leaves tools that have no source out of the list; if they are called all the same, they say what is missing. */
  onlyUsable?: boolean;
  /** Maximum number of worker threads; 6 if absent. */
  threads?: number;
  /** Receives lines for an operator; they never contain arguments. */
  log?(line: string): void;
}

export type ToolOutcome = { ok: true; output: Record<string, unknown> } | { ok: false; code: RefusalCode; message: string };

export interface Toolbox {
  readonly tools: readonly ToolDeclaration[];
  /** Starts a thread ahead of the first call. */
  warm(): void;
  /** Never throws: an error becomes an outcome with a sentence for the caller. */
  call(name: string, args: unknown): Promise<ToolOutcome>;
  close(): Promise<void>;
}

/** Heap of one thread, in MiB: reading the largest law takes about 100. */
const heapMb = 192;
/** Longest reading of a fetched document, in milliseconds. */
const readingMs = 5_000;

const notConfigured = (): Refusal =>
  new Refusal(
    'NOT_CONFIGURED',
    'The law tools have no source: the operator sets CONCLAVE_LAW_URL, or starts the tools with --law-url, to the address of a law server such as https://www.gesetze-im-internet.de.',
  );

/** All tools behind one call. Computing tools run in threads; law tools wait for their server here and read in a thread. */
export function openToolbox({ workerFile, lawUrl, onlyUsable = false, threads = 6, log = () => {} }: ToolboxOptions): Toolbox {
  const pool = new WorkerPool({ workerFile, threads, heapMb, waiting: { jobs: 200, ms: 10_000 }, startMs: 10_000, log });
  const library = lawUrl ? openLibrary(lawUrl, pool) : undefined;
  const byName = new Map<string, ToolDeclaration>([...computingTools, ...lawTools].map((tool) => [tool.name, tool]));

  async function answer(name: string, args: unknown): Promise<Record<string, unknown>> {
    const tool = byName.get(name);
    if (!tool) throw unknownTool(name, [...byName.keys()]);
    const checked = checkedArguments(tool, args);
    if ('run' in tool) return (await pool.run(name, checked, tool.limits.timeoutMs)) as Record<string, unknown>;
    if (!library) throw notConfigured();
    const signal = AbortSignal.timeout(tool.limits.timeoutMs);
    return tool.output.parse(await within((tool as LawTool).ask(checked, library, signal), signal, name));
  }

  return {
    tools: onlyUsable && !library ? computingTools : [...byName.values()],
    warm: () => pool.warm(),
    async call(name, args) {
      try {
        return { ok: true, output: await answer(name, args) };
      } catch (error) {
        if (error instanceof Refusal) return { ok: false, code: error.code, message: error.message };
        log(`${name} failed: ${error instanceof Error ? error.name : 'unknown error'}`);
        return { ok: false, code: 'INTERNAL', message: 'The tool failed. Try another way of asking.' };
      }
    },
    close: () => pool.close(),
  };
}

function openLibrary(lawUrl: string, pool: WorkerPool): LawLibrary {
  return new LawLibrary(lawFiles(lawBase(lawUrl)), {
    contents: (bytes) => fromServer(pool.run(readingJobs.contents, bytes, readingMs)) as Promise<LawEntry[]>,
    law: (bytes) => fromServer(pool.run(readingJobs.law, bytes, readingMs)) as Promise<Law>,
  });
}

/** An invalid document of the server is not a mistake of the caller. */
async function fromServer<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'BUSY' || error.code === 'UNAVAILABLE') throw error;
    throw new Refusal('UNAVAILABLE', `The law server sent a file that cannot be used. ${error.message}`, { cause: error });
  }
}

/** The answer, or a refusal once the signal fires: a shared fetch continues for the others who wait for it. */
async function within<Value>(answer: Promise<Value>, signal: AbortSignal, name: string): Promise<Value> {
  let onAbort = (): void => {};
  const late = new Promise<never>((_, reject) => {
    onAbort = () => reject(new Refusal('TIMEOUT', `${name} had no answer from the law server in time. Try again later.`));
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
