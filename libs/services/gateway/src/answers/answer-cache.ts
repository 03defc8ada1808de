import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import pTimeout from 'p-timeout';
import {
  dayOf,
  type CacheExplanation,
  KeptPlan,
  type CachedAnswer,
  type CacheKeys,
  type Caller,
  type Failure,
  type PlanRequested,
} from '@conclave/contracts';
import { answersPurpose, collectionOf, STATE, type Embedder, type StateStore, type VectorAnswer, type Vectors } from '@conclave/ports';
import {
  answerScopeText,
  earlierQuestions,
  exactAnswerText,
  isWithoutHistory,
  KeptAnswer,
  nearestDistance,
  planText,
  semanticKey,
  type CacheQuery,
} from '@conclave/strategies';
import { GATEWAY_OPTIONS, type CacheName, type GatewayOptions } from '../options.js';
import { RunDirectory } from '../runs/run-directory.js';
import { CacheCounts } from './cache-counts.js';

/** What is known about the words of questions is imported lazily, for a faster start. */
const sameness = () => import('@conclave/questions/sameness');

type Data = Parameters<typeof textsOf>[0];

/** Longest time in milliseconds that acceptance waits for the caches. */
const patienceMs = 300;
/** Longest time in milliseconds that an explanation waits for them. */
const explainMs = 3_000;
/** Abort reason for lookups; created once, because capturing a stack trace costs more than a lookup. */
const lookedUp = new Error('The cache lookup has ended.');
/** Number of nearest questions that are compared word by word. */
const compared = 8;

const hashed = (text: string): string => createHash('sha256').update(text).digest('hex');

const textsOf = (data: Omit<PlanRequested['data'], 'cached' | 'caching' | 'plan'>): CacheQuery => ({
  ...data,
  tenant: data.caller.tenant,
  complexity: data.complexity,
});

/** The day of a question that depends on it, or that continues one. */
async function dayFor({ goal, conversation, requestedAt }: Data): Promise<Pick<CacheQuery, 'day'>> {
  const { asksAboutToday } = await sameness();
  return [goal, ...earlierQuestions({ conversation })].some((text) => asksAboutToday(text)) ? { day: dayOf(requestedAt) } : {};
}

/** Header value of a response that came from a cache, such as `semantic; distance=0.083`. */
export const cacheHeader = ({ origin, distance }: Pick<CachedAnswer, 'origin' | 'distance'>): string =>
  distance === null ? origin : `${origin}; distance=${distance.toFixed(3)}`;

/** What the caches hold for a question. */
interface Found {
  readonly cached?: CachedAnswer;
  readonly plan?: KeptPlan;
}

/**
 * Looks up an answer, or else a plan, before a run is accepted. The caches hold only what runs have committed, per
 * tenant, template, parameters and history. A store that fails or does not answer in time is a miss, never an error.
 */
@Injectable()
export class AnswerCache {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(STATE) private readonly state: Pick<StateStore, 'caches'>,
    @Inject(CacheCounts) private readonly counts: CacheCounts,
    @Inject(RunDirectory) private readonly runs: RunDirectory,
  ) {}

  /**
   * Returns the request with a cached answer, or else a cached plan, if there is one, and with the keys under which its own may be
   * cached. Questions with attachments are not cached. `wanted` is false when the client opted out.
   */
  async offered<D extends Data>(data: D, wanted: boolean): Promise<D & Found & { caching?: CacheKeys }> {
    const { caches } = data.template;
    if (!wanted || !caches || !Object.values(caches).some(Boolean)) return data;
    const asked = await this.withContents({ ...textsOf(data), ...(await dayFor(data)) });
    if (asked === null) return data;
    const isPlain = (data.attachments ?? []).length === 0;
    const caching: CacheKeys = {
      exact: caches.answer && isPlain ? `answer/${hashed(exactAnswerText(asked))}` : null,
      scope: caches.semantic && isPlain && isWithoutHistory(data) ? hashed(answerScopeText(asked)) : null,
      plan: caches.plan && isPlain ? `plan/${hashed(planText(asked))}` : null,
    };
    return { ...data, caching, ...(await this.find(asked, caching)) };
  }

  /** Adds the mark of the folder that the template searches. Returns null if the folder cannot be read: then no cached answer is known to be current. */
  private async withContents(asked: CacheQuery): Promise<CacheQuery | null> {
    const { contents, logger } = this.options;
    if (!contents || !asked.template.capabilities.includes('research')) return asked;
    try {
      return { ...asked, contents: await contents() };
    } catch (error) {
      logger.warn('The folder of documents cannot be read; the question is answered without caches.', { error });
      return null;
    }
  }

  private async find(asked: CacheQuery, keys: CacheKeys): Promise<Found> {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(new Error(`It did not answer within ${patienceMs} ms.`)), patienceMs);
    try {
      const cached = await this.answer(asked, keys, over.signal);
      if (cached) return { cached };
      const plan =
        keys.plan === null ? null : await this.look(asked.tenant, 'plan', over.signal, () => this.plan(asked.tenant, keys.plan!));
      return plan ? { plan } : {};
    } finally {
      clearTimeout(timer);
      over.abort(lookedUp);
    }
  }

  private async answer(asked: CacheQuery, { exact, scope }: CacheKeys, over: AbortSignal): Promise<CachedAnswer | null> {
    const { vectors, embedder } = this.options;
    const same = exact === null ? null : await this.look(asked.tenant, 'exact', over, () => this.exact(asked.tenant, exact));
    if (same || scope === null || !vectors || !embedder) return same;
    return this.look(asked.tenant, 'semantic', over, () => this.semantic(asked, scope, vectors, embedder, over));
  }

  private async look<T>(tenant: string, cache: CacheName, over: AbortSignal, find: () => Promise<T | null>): Promise<T | null> {
    const { metrics, logger } = this.options;
    try {
      over.throwIfAborted();
      const found = await pTimeout(find(), { milliseconds: Infinity, signal: over });
      metrics.onCache({ cache, result: found ? 'hit' : 'miss' });
      this.counts.looked(tenant, cache, found ? 'hit' : 'miss');
      return found;
    } catch (error) {
      metrics.onCache({ cache, result: 'failed' });
      this.counts.looked(tenant, cache, 'failed');
      logger.warn('A cache lookup failed; the question is planned and answered without it.', {
        cache,
        code: (error as Partial<Failure>).code,
        error,
      });
      return null;
    }
  }

  private async exact(tenant: string, key: string): Promise<CachedAnswer | null> {
    const kept = await this.kept(tenant, key);
    return kept && { ...kept, origin: 'exact', distance: null };
  }

  /** Compares the question with earlier questions, never with answers. */
  private async semantic(
    asked: CacheQuery,
    scope: string,
    vectors: Vectors,
    embedder: Embedder,
    signal: AbortSignal,
  ): Promise<CachedAnswer | null> {
    const { tenant, goal } = asked;
    const hits = await this.near(asked, scope, vectors, embedder, signal);
    const found = await this.firstSame(goal, tenant, hits);
    if (hits[0]) this.counts.nearest(tenant, (found?.distance ?? hits[0].distance)!, found !== null);
    return found;
  }

  /** The nearest earlier questions of this scope. */
  private async near(
    { tenant, goal }: Pick<CacheQuery, 'tenant' | 'goal'>,
    scope: string,
    vectors: Vectors,
    embedder: Embedder,
    signal: AbortSignal,
  ): Promise<VectorAnswer['hits']> {
    const [vector] = await embedder.embed([goal], { signal });
    const collection = collectionOf(answersPurpose, embedder);
    return (await vectors.query({ tenant, collection }, { vector: vector!, limit: compared, where: { scope }, signal })).hits;
  }

  private async firstSame(goal: string, tenant: string, hits: VectorAnswer['hits']): Promise<CachedAnswer | null> {
    for (const { id, text, distance } of hits) {
      if (distance >= nearestDistance) break;
      if (!(await sameness()).sameQuestion(goal, text).same) continue;
      // A vector may outlive its answer, which expires and is removed after a bad rating.
      const kept = await this.kept(tenant, semanticKey(id));
      if (kept) return { ...kept, origin: 'semantic', distance };
    }
    return null;
  }

  /**
   * Explains why a cache answered a run, or did not. The nearest misses are searched again in the current cache. Throws RUN_NOT_FOUND, RUN_ERASED.
   */
  async explain(id: string, caller: Caller): Promise<CacheExplanation> {
    const { data } = await this.runs.header(id, caller);
    const { cached = null, caching = null, template, goal, requestedAt } = data;
    const on = template.caches?.answer === true || template.caches?.semantic === true;
    const kind = cached ? cached.origin : caching ? 'none' : on ? 'bypassed' : 'off';
    const nearest = caching?.scope ? await this.misses(id, goal, caching.scope, caller.tenant, cached?.runId ?? null) : [];
    const accepted = cached && {
      run: cached.runId,
      question: cached.question,
      distance: cached.distance,
      age_ms: Math.max(0, requestedAt - cached.storedAt),
    };
    const sentence = explanation(kind, accepted, nearest);
    return { object: 'cache_explanation', run: id, kind, sentence, question: goal, threshold: nearestDistance, accepted, nearest };
  }

  private async misses(id: string, goal: string, scope: string, tenant: string, used: string | null): Promise<CacheExplanation['nearest']> {
    const { vectors, embedder } = this.options;
    if (!vectors || !embedder) return [];
    const hits = await this.near({ tenant, goal }, scope, vectors, embedder, AbortSignal.timeout(explainMs));
    const { sameQuestion } = await sameness();
    return hits
      .filter((hit) => hit.id !== id && hit.id !== used)
      .map((hit) => {
        const differences = [...sameQuestion(goal, hit.text).differences];
        return { run: hit.id, question: hit.text, distance: hit.distance, differences, within: hit.distance < nearestDistance };
      });
  }

  private async plan(tenant: string, key: string): Promise<KeptPlan | null> {
    const read = KeptPlan.safeParse((await this.state.caches.read(tenant, key))?.value);
    return read.success ? read.data : null;
  }

  private async kept(tenant: string, key: string): Promise<KeptAnswer | null> {
    const entry = await this.state.caches.read(tenant, key);
    const read = KeptAnswer.safeParse(entry?.value);
    return read.success ? read.data : null;
  }
}

type Nearest = CacheExplanation['nearest'];

function explanation(kind: CacheExplanation['kind'], accepted: CacheExplanation['accepted'], [nearest]: Nearest): string {
  const near = (distance: number): string => distance.toFixed(3);
  if (accepted?.distance === null) return 'The same question was answered before, so its answer was returned again.';
  if (accepted)
    return `The question was answered before in other words: distance ${near(accepted.distance)} of less than ${nearestDistance}, and no word that changes its meaning.`;
  if (kind === 'off') return 'The template does not cache answers.';
  if (kind === 'bypassed') return 'The request asked for a new answer, or its answer cannot be cached.';
  if (!nearest) return 'No earlier question is stored that this one could be compared with.';
  if (!nearest.within) return `The nearest earlier question is too far: distance ${near(nearest.distance)}, at least ${nearestDistance}.`;
  if (nearest.differences.length > 0)
    return `The nearest earlier question is near enough (distance ${near(nearest.distance)}), but asks something else: ${nearest.differences.join(', ')}.`;
  return `An earlier question means the same (distance ${near(nearest.distance)}), but its answer was not cached at that time.`;
}
