import { Failure, noteOf, type Event, type TaskDispatched } from '@conclave/contracts';
import type { SearchHit, Search } from '@conclave/ports';
import type { CallEnd, Calls, JournalledToolCall, Performed, ShownIn } from '@conclave/calls';
import type { TenantCache } from '../tenant-cache.js';
import { researchCapability, type ResearchOptions } from '../research.capability.js';

export const hit = (n: number, more: Partial<SearchHit> = {}): SearchHit => ({
  title: `Title ${n}`,
  url: `https://host${n}.example/page`,
  snippet: `Snippet ${n} speaks of copper.`,
  ...more,
});

/** A search over a table of queries that counts its calls. */
export class TableSearch implements Search {
  readonly kind: Search['kind'] = 'web';
  readonly description = 'web search of a table';
  readonly asked: string[] = [];
  constructor(private readonly answer: (query: string, signal: AbortSignal) => readonly SearchHit[] | Promise<readonly SearchHit[]>) {}
  async query({ query, signal }: Parameters<Search['query']>[0]): Promise<readonly SearchHit[]> {
    this.asked.push(query);
    return this.answer(query, signal);
  }
  health = async (): Promise<null> => null;
  close = async (): Promise<void> => undefined;
}

export interface KeptEntry {
  readonly value: string;
  readonly ttlMs: number;
}

/** A cache whose entries expire by the given clock. */
export class TableCache implements TenantCache {
  readonly entries = new Map<string, KeptEntry & { readonly until: number }>();
  constructor(private readonly now: () => number) {}
  async read(key: string): Promise<string | null> {
    const entry = this.entries.get(key);
    return entry && entry.until > this.now() ? entry.value : null;
  }
  async write(key: string, value: string, ttlMs: number): Promise<void> {
    this.entries.set(key, { value, ttlMs, until: this.now() + ttlMs });
  }
}

/** Calls with a journal: finished ones are not performed again. */
export class JournalledTools implements Calls {
  readonly made: JournalledToolCall[] = [];
  readonly journal = new Map<string, CallEnd>();
  busy: ((call: JournalledToolCall) => boolean) | null = null;
  cancels = { isCancelled: async (): Promise<boolean> => false };

  model = (): Promise<CallEnd> => Promise.reject(new Error('No model is asked by a search.'));

  async tool(call: JournalledToolCall, perform: (signal: AbortSignal) => Promise<string>): Promise<CallEnd> {
    if (this.busy?.(call)) return { kind: 'busy', retryInMs: 70 };
    const step = `${call.owner}/call/${call.index}`;
    const ended = this.journal.get(step);
    if (ended) return ended;
    this.made.push(call);
    await call.onBegun?.(1);
    const record = { id: `${step}/1` } as Event;
    const end = await perform(call.signal).then(
      (content) => ({ kind: 'reply', reply: { content }, attempt: 1, replayed: false, usage: {}, record }) as unknown as CallEnd,
      (error: unknown) => {
        if (!(error instanceof Failure)) throw error;
        const failure = noteOf(error);
        const kind = error.code === 'CALL_CANCELLED' ? 'cancelled' : 'failed';
        return { kind, failure, attempt: 1, usage: {}, record } as unknown as CallEnd;
      },
    );
    this.journal.set(step, end);
    return end;
  }
}

let tasks = 0;
export function researchTask(query: string, more: Partial<TaskDispatched['data']> & { runId?: string } = {}): TaskDispatched {
  const { runId = 'run_00000001', ...data } = more;
  tasks += 1;
  return {
    type: 'TaskDispatched',
    id: `${runId}/0/r${tasks}`,
    runId,
    time: 1_000,
    data: {
      taskId: `${runId}/0/r${tasks}`,
      epoch: 0,
      capability: 'research',
      input: { kind: 'research', task: query, query, limit: 5 },
      tenant: 'acme',
      detail: 'redacted',
      startBy: Number.MAX_SAFE_INTEGER,
      timeoutS: 60,
      ...data,
    },
  } as unknown as TaskDispatched;
}

export type Shown = Parameters<ShownIn['append']>[1][number] & { readonly kind: 'progress' };
type Ok = Extract<Performed, { result: unknown }>;

/** A research capability with its dependencies; `run` performs one task. */
export function researchWorld(search: Search, options: ResearchOptions = {}) {
  const tools = new JournalledTools();
  const shown: Shown[] = [];
  const stream = {
    append: async (_runId: string, entries: readonly Shown[]) => {
      shown.push(...entries);
      return 'appended';
    },
  } as unknown as ShownIn;
  const capability = researchCapability(tools, stream, search, options);
  const perform = (task: TaskDispatched, signal = new AbortController().signal): Promise<Performed> =>
    capability({ task, signal, deadline: Number.MAX_SAFE_INTEGER });
  const run = async (task: TaskDispatched, signal?: AbortSignal) => {
    const performed = (await perform(task, signal)) as Ok;
    const { output } = performed.result;
    const evidence = output?.kind === 'evidence' ? output : { facts: [], notes: [] };
    return { ...performed, ...performed.result, facts: evidence.facts, notes: (evidence.notes ?? []).join('\n') };
  };
  return { tools, shown, perform, run };
}
