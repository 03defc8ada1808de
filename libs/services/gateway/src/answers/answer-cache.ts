import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { CachedAnswer, CacheKeys, Failure, PlanRequested } from '@conclave/contracts';
import { answersPurpose, collectionOf, STATE, type Embedder, type StateStore, type Vectors } from '@conclave/ports';
import {
  answerScopeText,
  exactAnswerText,
  isWithoutHistory,
  KeptAnswer,
  nearestDistance,
  semanticKey,
  type Asked,
} from '@conclave/strategies';
import { sameQuestion } from '@conclave/questions';
import { GATEWAY_OPTIONS, type AnswerCacheName, type GatewayOptions } from '../options.js';

type Data = Parameters<typeof textsOf>[0];

/** Milliseconds that acceptance waits for the caches at most. */
const patienceMs = 300;
/** Why lookups are told to stop; made once, because the trace of an error costs more than a lookup. */
const lookedUp = new Error('The caches have been looked at.');
/** Nearest questions that are compared word by word. */
const compared = 8;

const hashed = (text: string): string => createHash('sha256').update(text).digest('hex');

const textsOf = (data: Omit<PlanRequested['data'], 'cached' | 'caching'>): Asked => ({
  ...data,
  tenant: data.caller.tenant,
  complexity: data.complexity,
});

/** A header of a response that was answered by a cache, such as `semantic; distance=0.083`. */
export const cacheHeader = ({ origin, distance }: Pick<CachedAnswer, 'origin' | 'distance'>): string =>
  distance === null ? origin : `${origin}; distance=${distance.toFixed(3)}`;

/**
 * Looks an answer up before a run is accepted (moe.md, Caches). Only what a run has committed is there, and only for the same tenant,
 * template, parameters and history. A store that fails or does not answer in time is a miss, never an error.
 */
@Injectable()
export class AnswerCache {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(STATE) private readonly state: Pick<StateStore, 'caches'>,
  ) {}

  /** The same request, with the answer of a cache where there is one, and with where its own answer may be kept. `wanted` is false where the client opted out. */
  async offered<D extends Data>(data: D, wanted: boolean): Promise<D & { cached?: CachedAnswer; caching?: CacheKeys }> {
    const { caches } = data.template;
    if (!wanted || !caches || !Object.values(caches).some(Boolean)) return data;
    const asked = textsOf(data);
    const isPlain = (data.attachments ?? []).length === 0;
    const caching: CacheKeys = {
      exact: caches.answer && isPlain ? `answer/${hashed(exactAnswerText(asked))}` : null,
      scope: caches.semantic && isPlain && isWithoutHistory(data) ? hashed(answerScopeText(asked)) : null,
    };
    const cached = await this.find(asked, caching);
    return { ...data, caching, ...(cached ? { cached } : {}) };
  }

  private async find(asked: Asked, { exact, scope }: CacheKeys): Promise<CachedAnswer | null> {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), patienceMs);
    const { vectors, embedder } = this.options;
    try {
      const same = exact === null ? null : await this.look('exact', over.signal, () => this.exact(asked.tenant, exact));
      if (same || scope === null || !vectors || !embedder) return same;
      return await this.look('semantic', over.signal, () => this.semantic(asked, scope, vectors, embedder, over.signal));
    } finally {
      clearTimeout(timer);
      over.abort(lookedUp);
    }
  }

  private async look(cache: AnswerCacheName, over: AbortSignal, find: () => Promise<CachedAnswer | null>): Promise<CachedAnswer | null> {
    const { metrics, logger } = this.options;
    try {
      const found = await beforeAbort(find, over);
      metrics.onCache({ cache, result: found ? 'hit' : 'miss' });
      return found;
    } catch (error) {
      metrics.onCache({ cache, result: 'failed' });
      logger.warn('A cache of answers could not be asked; the question is answered anew.', {
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

  /** Question against questions: an answer is never compared with anything. */
  private async semantic(
    asked: Asked,
    scope: string,
    vectors: Vectors,
    embedder: Embedder,
    signal: AbortSignal,
  ): Promise<CachedAnswer | null> {
    const { tenant, goal } = asked;
    const [vector] = await embedder.embed([goal], { signal });
    const collection = collectionOf(answersPurpose, embedder);
    const { hits } = await vectors.query({ tenant, collection }, { vector: vector!, limit: compared, where: { scope }, signal });
    for (const { id, text, distance } of hits) {
      if (distance >= nearestDistance) break;
      if (!sameQuestion(goal, text).same) continue;
      // The vector may outlive its answer: what has expired or was rated badly is not there any more.
      const kept = await this.kept(tenant, semanticKey(id));
      if (kept) return { ...kept, origin: 'semantic', distance };
    }
    return null;
  }

  private async kept(tenant: string, key: string): Promise<KeptAnswer | null> {
    const entry = await this.state.caches.read(tenant, key);
    const read = KeptAnswer.safeParse(entry?.value);
    return read.success ? read.data : null;
  }
}

/** What `work` gives, unless the signal aborts first: then it throws, and whatever the work still does is nobody's business. */
async function beforeAbort<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new Error(`It did not answer within ${patienceMs} ms.`));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([late, work()]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
