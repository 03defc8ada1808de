import { Failure, isOutage, type TaskDispatched, type TaskInput } from '@conclave/contracts';
import type { Search } from '@conclave/ports';
import { earlyEnd, recordsOf, type CallEnd, type Calls, type Capability, type ShownIn } from '@conclave/calls';
import { distinctSources } from './distinct-sources.js';
import { factsOf, notesOf, resultDetail, resultLine, type Findings, type PageOutcome } from './research-report.js';
import { FoundHits, ReadPage, ResearchSources, type ResearchOptions } from './research-sources.js';

export type { ResearchOptions } from './research-sources.js';

/** Milliseconds of a task's time reserved for its result after waiting for pages. */
const keptForResult = 1_500;

/**
 * `research`: one search, its hits as numbered sources, and the passages of the best pages that answer the query. For an unreadable
 * page there is a note and its snippet. The search and each page are journalled calls, also when their content is cached.
 */
export function researchCapability(maker: Calls, stream: ShownIn, search: Search, options: ResearchOptions = {}): Capability {
  const sources = new ResearchSources(search, options);
  const now = options.now ?? Date.now;

  return async ({ task, signal, deadline }) => {
    const { data } = task;
    const input = data.input as Extract<TaskInput, { kind: 'research' }>;
    const end = await maker.tool(
      {
        runId: task.runId,
        owner: data.taskId,
        index: 0,
        purpose: data.capability,
        name: `search.${search.kind}`,
        request: { query: input.query, limit: input.limit, ...(input.further ? { further: input.further } : {}) },
        deadline,
        signal,
        task,
        onBegun: (attempt) => show(task, attempt, 0, 'research.query', `Searches for: ${input.query}`),
      },
      async (running) => JSON.stringify(await sources.find(task, input, running)),
    );
    const early = earlyEnd([end]);
    if (early) return early;
    const { reply, attempt } = end as Extract<CallEnd, { kind: 'reply' }>;

    const found = FoundHits.parse(JSON.parse(reply.content));
    const read = await readPages(task, input.query, found, { signal, deadline: deadline - keptForResult });
    const records = recordsOf([end, ...read]);
    // A failed page does not fail the task.
    const cutShort = earlyEnd(read, { records, fails: () => false });
    if (cutShort) return cutShort;
    const pages = read.map((one, index) => pageOutcome(found.read[index]!, one));
    const findings: Findings = { query: input.query, kind: search.kind, found, pages, now: now() };
    await show(task, attempt, 1, 'research.result', resultLine(findings), data.detail === 'full' ? resultDetail(findings) : undefined);
    const facts = factsOf(findings, data);
    const output = { kind: 'evidence' as const, facts, notes: notesOf(findings) };
    return { result: { status: 'ok', output, sources: [...distinctSources(facts)], attempt }, records };
  };

  async function show(task: TaskDispatched, attempt: number, n: number, code: string, text: string, detail?: string): Promise<void> {
    const entry = { kind: 'progress' as const, taskId: task.data.taskId, attempt, n, code, text };
    await stream.append(task.runId, [detail === undefined ? entry : { ...entry, detail }]);
  }

  /** Reads the best pages concurrently. */
  function readPages(
    task: TaskDispatched,
    query: string,
    found: FoundHits,
    { signal, deadline }: { readonly signal: AbortSignal; readonly deadline: number },
  ): Promise<readonly CallEnd[]> {
    return Promise.all(
      found.read.map((url, index) =>
        maker.tool(
          {
            runId: task.runId,
            owner: task.data.taskId,
            index: 1 + index,
            purpose: task.data.capability,
            name: 'page.read',
            request: { url, query },
            deadline,
            signal,
            task,
          },
          async (running) => JSON.stringify(await sources.page(task, query, url, running).catch(asPageFailure(running))),
        ),
      ),
    );
  }
}

function pageOutcome(url: string, end: CallEnd): PageOutcome {
  if (end.kind === 'reply') return { url, page: ReadPage.parse(JSON.parse(end.reply.content)), failure: null };
  return { url, page: null, failure: end.kind === 'failed' ? end.failure : null };
}

/** Converts a reader's bug to an unreadable page. Errors that are not about the page, such as outages and cancels, pass through. */
const asPageFailure =
  (signal: AbortSignal) =>
  (error: unknown): never => {
    if (error instanceof Failure || signal.aborted || isOutage(error)) throw error;
    throw new Failure('PAGE_UNREADABLE', 'Its reader failed.', { cause: error });
  };
