import type { Fact } from '@conclave/contracts';
import { collectionOf, factsPurpose, type Embedder, type VectorHit, type Vectors } from '@conclave/ports';
import { fusedByRank } from './fusion.js';
import { isAbout } from '@conclave/strategies';
import { farthest } from './collection-search.js';
import type { FactLookup } from './graph.capability.js';

/** Most facts of one lookup. */
const mostFacts = 3;

/** Most facts compared with the question when no filter selects them. */
const mostCandidates = 12;

/** Where a fact was learned, in readable form: the title of its source, or that it was an answer. */
const titleOf = (source: unknown): string =>
  source === 'answer' || typeof source !== 'string' || source === '' ? 'Earlier answer' : source;

/**
 * Facts of earlier runs. With `metadata_filters`: the selected facts that are related to the question, nearest first. Without
 * filters: only facts about what the question names, because all learned facts are candidates.
 */
export const factLookup =
  (vectors: Vectors, embedder: Embedder): FactLookup =>
  async (tenant, question, filters, signal) => {
    const collection = collectionOf(factsPurpose, embedder);
    const known = (await vectors.list(tenant)).some(({ name }) => name === collection);
    if (!known) return { facts: [], unknownKeys: [] };
    const [vector] = await embedder.embed([question], { signal });
    const scope = { tenant, collection };
    const isFiltered = Object.keys(filters).length > 0;
    const limit = isFiltered ? mostFacts : mostCandidates;
    const [{ hits, unknownKeys }, said] = await Promise.all([
      vectors.query(scope, { vector: vector!, limit, where: filters, signal }),
      isFiltered ? { hits: [] } : vectors.match(scope, { words: question, limit, signal }),
    ]);
    const found = isFiltered
      ? hits.filter(({ distance }) => distance <= farthest)
      : fusedByRank<Pick<VectorHit, 'id' | 'text' | 'metadata'>>(
          [
            { hits: said.hits, weight: 2 },
            { hits, weight: 1 },
          ],
          ({ id }) => id,
        ).filter(({ text }) => isAbout(question, text));
    const facts = found.slice(0, mostFacts).map(({ text, metadata }): Fact => ({
      text,
      source: { kind: 'memory', title: titleOf(metadata['source']), url: null },
      taskId: '',
      epoch: 0,
      confidence: null,
    }));
    return { facts, unknownKeys };
  };
