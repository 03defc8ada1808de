import type { Fact } from '@conclave/contracts';
import { collectionOf, factsPurpose, type Embedder, type Vectors } from '@conclave/ports';
import { farthest } from './collection-search.js';
import type { FactLookup } from './graph.capability.js';

/** Facts that one lookup gives. */
const mostFacts = 3;

/** Facts of earlier runs that `metadata_filters` select, nearest to the question first; none that has nothing to do with it. */
export const factLookup =
  (vectors: Vectors, embedder: Embedder): FactLookup =>
  async (tenant, question, filters, signal) => {
    const collection = collectionOf(factsPurpose, embedder);
    const known = (await vectors.list(tenant)).some(({ name }) => name === collection);
    if (!known) return { facts: [], unknownKeys: [] };
    const [vector] = await embedder.embed([question], { signal });
    const { hits, unknownKeys } = await vectors.query(
      { tenant, collection },
      { vector: vector!, limit: mostFacts, where: filters, signal },
    );
    const near = hits.filter(({ distance }) => distance <= farthest);
    const facts = near.map(({ text, metadata }): Fact => ({
      text,
      source: { kind: 'memory', title: `[Domain-Filtered Memory] ${String(metadata['source'] ?? '')}`.trim(), url: null },
      taskId: '',
      epoch: 0,
      confidence: null,
    }));
    return { facts, unknownKeys };
  };
