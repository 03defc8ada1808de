import * as z from 'zod';
import { Failure, isOutage, type TaskDispatched, type TaskInput } from '@conclave/contracts';
import { firstCharacters, noticesAbout, visibleText, type PageReader, type Reranking, type Search, type SearchHit } from '@conclave/ports';
import { bestPassages, freshness, freshnessOf, normalisedQuery } from '@conclave/strategies';
import { searchHits } from './further-search.js';
import { reranked } from './reranked.js';
import { cacheKey, SharedWork } from './research-memory.js';
import type { TenantCache } from './tenant-cache.js';

const Hits = z.array(z.object({ title: z.string(), url: z.string().nullable(), document: z.string().optional(), snippet: z.string() }));
const Origin = z.enum(['asked', 'cache', 'run']);
/** Notes on how the hits were found, for readers of the facts. */
const Notes = z.array(z.string()).default([]);
const KeptHits = z.object({ at: z.number(), hits: Hits, notes: Notes });
const KeptPage = z.object({ at: z.number(), url: z.string(), title: z.string(), text: z.string(), notices: z.array(z.string()) });

/**
 * Journal entry of a search: its hits, their origin, and the pages to read, so that a repeat reads the same ones. Earlier versions stored
 * only the hits.
 */
export const FoundHits = z.union([
  z.object({ origin: Origin, at: z.number(), hits: Hits, read: z.array(z.string()), notes: Notes }),
  Hits.transform((hits) => ({ origin: 'asked' as const, at: 0, hits, read: [] as string[], notes: [] as string[] })),
]);
export type FoundHits = z.infer<typeof FoundHits>;

/** Journal entry of a page: the passages for the query. */
export const ReadPage = z.object({
  origin: Origin,
  at: z.number(),
  url: z.string(),
  title: z.string(),
  passages: z.array(z.string()),
  notices: z.array(z.string()),
});
export type ReadPage = z.infer<typeof ReadPage>;

/** Characters read and cached of one page; its passages are chosen from them. */
const keptOfPage = 60_000;
const longestTitle = 300;

/** Maximum age, in milliseconds, of a cached result that a re-plan accepts: an earlier answer did not settle what it asks again. */
const oldestForReplan = freshness.current.ttlMs;

export interface ResearchOptions {
  /** Reads the pages of the best hits; null or absent: only snippets are used. */
  readonly pages?: PageReader | null;
  /** Most pages that are read per search. */
  readonly readPages?: number;
  /** Orders the hits; null or absent: they keep the order of the search. */
  readonly reranking?: Reranking | null;
  /** Cache of the task's tenant; null if the template or the request wants none. */
  readonly cacheOf?: (task: TaskDispatched) => TenantCache | null | Promise<TenantCache | null>;
  /** Changes with the searched corpus, which invalidates cached results. */
  readonly corpusVersion?: string;
  /** Called for each cache lookup, for metrics. */
  readonly onCache?: (what: 'search' | 'page', outcome: 'hit' | 'miss') => void;
  readonly now?: () => number;
}

/** Searches and reads pages, once per run, from the cache where allowed. */
export class ResearchSources {
  private readonly shared: SharedWork;
  private readonly now: () => number;

  constructor(
    private readonly search: Search,
    private readonly options: ResearchOptions,
  ) {
    this.now = options.now ?? Date.now;
    this.shared = new SharedWork(this.now);
  }

  /** Pages to read per search. */
  private get pagesWanted(): number {
    return this.options.pages ? Math.max(0, this.options.readPages ?? 0) : 0;
  }

  /** Throws SEARCH_UNAVAILABLE, CALL_CANCELLED. */
  async find(
    task: TaskDispatched,
    { query, limit, further: given }: Omit<Extract<TaskInput, { kind: 'research' }>, 'kind' | 'task'>,
    signal: AbortSignal,
  ): Promise<FoundHits> {
    const { tenant } = task.data;
    // Only a search of documents continues from findings: a web search works best with short queries, and each query costs a request.
    const further = this.search.kind === 'corpus' ? given : undefined;
    const { reranking = null } = this.options;
    const key = cacheKey(
      'search',
      tenant,
      'research',
      this.search.kind,
      this.search.description,
      this.options.corpusVersion ?? '',
      normalisedQuery(query),
      limit,
      ...(further ? [JSON.stringify(further)] : []),
      ...(reranking ? [reranking.reranker.id, reranking.candidates] : []),
    );
    const found = await this.kept(task, { what: 'search', key }, signal, KeptHits, {
      ttlMs: ({ hits, notes }) => (hits.length === 0 || notes.length > 0 ? freshness.current.ttlMs : freshnessOf(query).ttlMs),
      make: async () => {
        const wanted = Math.max(limit, reranking?.candidates ?? 0);
        const found = clean(await searchHits(this.search, { query, limit: wanted, further }, signal));
        const { hits, note } = await reranked(reranking, query, found, ({ title, snippet }) => `${title}\n${snippet}`, signal);
        return { at: this.now(), hits: hits.slice(0, limit), notes: note === null ? [] : [note] };
      },
    });
    return { origin: found.origin, ...found.value, read: pagesToRead(found.value.hits, this.pagesWanted) };
  }

  /** Throws PAGE_* failures, CALL_CANCELLED. */
  async page(task: TaskDispatched, query: string, url: string, signal: AbortSignal): Promise<ReadPage> {
    const { pages } = this.options;
    if (!pages) throw new Failure('PAGE_REFUSED', 'This installation cannot read pages.');
    const found = await this.kept(task, { what: 'page', key: cacheKey('page', task.data.tenant, url) }, signal, KeptPage, {
      ttlMs: () => freshnessOf(query).ttlMs,
      make: async () => {
        const page = await pages.read({ url, maxCharacters: keptOfPage, signal });
        return { at: page.fetchedAt, url: page.url, title: page.title, text: page.text, notices: [...page.notices] };
      },
    });
    const { text, at, ...about } = found.value;
    return { origin: found.origin, at, ...about, passages: [...bestPassages(query, text)] };
  }

  /** Takes a value from this run or the cache, or else produces it and writes it to the cache. A failing cache counts as empty. */
  private async kept<T extends { readonly at: number }>(
    task: TaskDispatched,
    { what, key }: { readonly what: 'search' | 'page'; readonly key: string },
    signal: AbortSignal,
    shape: z.ZodType<T>,
    { ttlMs, make }: { readonly ttlMs: (value: T) => number; readonly make: () => Promise<T> },
  ): Promise<{ readonly origin: z.infer<typeof Origin>; readonly value: T }> {
    const work = await this.shared.share(`${task.runId} ${key}`, signal, async () => {
      // Searching a local folder is faster than a cache, and its files may change.
      const cache = this.search.kind === 'web' || this.options.corpusVersion ? ((await this.options.cacheOf?.(task)) ?? null) : null;
      const cached = cache ? await this.cached(cache, key, shape, task.data.epoch) : null;
      if (cache) this.options.onCache?.(what, cached ? 'hit' : 'miss');
      if (cached) return { origin: 'cache' as const, value: cached };
      const value = await make();
      await cache?.write(key, JSON.stringify(value), ttlMs(value)).catch(unlessOutage);
      return { origin: 'asked' as const, value };
    });
    return { origin: work.shared ? 'run' : work.value.origin, value: work.value.value };
  }

  private async cached<T extends { readonly at: number }>(
    cache: TenantCache,
    key: string,
    shape: z.ZodType<T>,
    epoch: number,
  ): Promise<T | null> {
    const text = await cache.read(key).catch(unlessOutage);
    if (typeof text !== 'string') return null;
    const { data } = shape.safeParse(jsonIn(text));
    if (!data) return null;
    return epoch > 0 && this.now() - data.at > oldestForReplan ? null : data;
  }
}

/** Best hits first; a host's second page follows the first pages of all others. */
function pagesToRead(hits: FoundHits['hits'], wanted: number): string[] {
  const urls = [...new Set(hits.flatMap(({ url }) => (url !== null && /^https?:/i.test(url) ? [url] : [])))];
  const isFirst = (url: string, place: number): boolean => urls.findIndex((other) => hostOf(other) === hostOf(url)) === place;
  return [...urls.filter(isFirst), ...urls.filter((url, place) => !isFirst(url, place))].slice(0, wanted);
}

export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

/** Ignores an outage of the cache: only the search itself can fail the task. Bugs pass through. */
function unlessOutage(error: unknown): null {
  if (error instanceof Failure && (isOutage(error) || error.retriable)) return null;
  throw error;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const line = (text: string): string => visibleText(text).text.replace(/\s+/g, ' ').trim();

function clean(hits: readonly SearchHit[]): z.infer<typeof Hits> {
  return hits.map(({ title, url, document, snippet }) => ({
    title: firstCharacters(line(title), longestTitle),
    url,
    ...(document === undefined ? {} : { document: line(document) }),
    snippet: line(snippet),
  }));
}

/** Notices about the texts of hits; empty for plain ones. */
export const noticesOfHits = (hits: FoundHits['hits']): readonly string[] =>
  noticesAbout(hits.map(({ title, snippet }) => `${title}\n${snippet}`).join('\n\n'), 0);
