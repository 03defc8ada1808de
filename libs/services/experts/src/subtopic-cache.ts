import { Failure, isOutage, rootOf, type TaskDispatched } from '@conclave/contracts';
import { documentsTag, type Caches } from '@conclave/ports';
import { CitedFacts, freshnessOf, mostFacts, normalisedQuery, runTag, layerTag } from '@conclave/strategies';
import * as z from 'zod';
import { cacheKey } from './research-memory.js';
import type { FoundPassages } from './subtopic-passages.js';

/** Milliseconds for which a worker may hold the work on a sub-topic, and milliseconds after which others look again. */
const [heldMs, againMs] = [30_000, 150];
/** Raised when the facts from the same passages would be written differently. */
const version = 1;

const Kept = z.object({ facts: CitedFacts.max(mostFacts) });

/** What another run found, or the worker that is finding it. */
export type Looked = { readonly facts: CitedFacts } | { readonly mine: () => Promise<void> } | { readonly againMs: number };

/**
 * Facts of sub-topics, shared between the runs of a tenant. The key covers the question and every passage that was found: it changes with any
 * document that the facts could come from. Of equal sub-topics, one is processed while the others wait. A failing cache counts as empty.
 */
export class SubtopicCache {
  constructor(
    private readonly caches: Caches,
    /** Called for each lookup of a sub-topic that does not wait. */
    private readonly onLook: (result: 'hit' | 'miss') => void = () => undefined,
  ) {}

  private keyOf({ data }: TaskDispatched, passages: FoundPassages['passages']): string {
    const input = data.input as { readonly topic: string; readonly query: string };
    const found = passages.map(({ text, title, url }) => [text, title, url].join('\n'));
    const prompt = data.prompts['subtopic'] ?? '';
    return cacheKey('subtopic', version, normalisedQuery(input.query), normalisedQuery(input.topic), prompt, ...data.models, ...found);
  }

  async look(task: TaskDispatched, passages: FoundPassages['passages']): Promise<Looked> {
    const { tenant, taskId } = task.data;
    const key = this.keyOf(task, passages);
    const kept = await this.read(tenant, key);
    if (kept) return this.hit(kept);
    const claim = { tenant, key, owner: taskId };
    const claimed = await this.caches.claim({ ...claim, ttlMs: heldMs }).catch(unlessOutage);
    if (claimed === 'taken') return { againMs };
    // The holder of the work may have finished it between the two lookups.
    const now = await this.read(tenant, key);
    const mine = async (): Promise<void> => {
      await this.caches.release(claim).catch(unlessOutage);
    };
    if (!now) {
      this.onLook('miss');
      return { mine };
    }
    await mine();
    return this.hit(now);
  }

  private hit(facts: CitedFacts): Looked {
    this.onLook('hit');
    return { facts };
  }

  async keep(task: TaskDispatched, passages: FoundPassages['passages'], facts: CitedFacts): Promise<void> {
    const { tenant, input } = task.data;
    const { ttlMs } = freshnessOf((input as { readonly query: string }).query);
    const write = {
      tenant,
      key: this.keyOf(task, passages),
      value: { facts },
      ttlMs,
      tags: [documentsTag, layerTag('search'), runTag(rootOf(task.runId))],
    };
    await this.caches.write(write).catch(unlessOutage);
  }

  private async read(tenant: string, key: string): Promise<CitedFacts | null> {
    const entry = await this.caches.read(tenant, key).catch(unlessOutage);
    return Kept.safeParse(entry?.value).data?.facts ?? null;
  }
}

/** Ignores an outage of the cache. Bugs pass through. */
function unlessOutage(error: unknown): null {
  if (error instanceof Failure && (isOutage(error) || error.retriable)) return null;
  throw error;
}
