import { describe, expect, it } from '@jest/globals';
import { collectionOf, factsPurpose, MemoryVectorStore, type Embedder } from '@conclave/ports';
import { factLookup } from './fact-lookup.js';

const spaces: Readonly<Record<string, readonly number[]>> = { copper: [1, 0], metals: [0.6, 0.8], poetry: [0, 1] };
/** The first word of a text determines its vector. */
const embedder: Embedder = {
  id: 'words-1',
  dimension: 2,
  embed: (texts) => Promise.resolve(texts.map((text) => Float32Array.from(spaces[text.split(' ')[0]!]!))),
  health: () => Promise.resolve(null),
  close: () => Promise.resolve(),
};

describe('facts that filters select', () => {
  it('are the nearest ones, and none that are unrelated to the question, however well the filter matches', async () => {
    const vectors = new MemoryVectorStore().connect();
    const collection = collectionOf(factsPurpose, embedder);
    await vectors.create({ tenant: 'acme', collection }, 2);
    const texts = ['poetry has metre', 'metals conduct', 'copper conducts best'];
    const found = await embedder.embed(texts, { signal: new AbortController().signal });
    await vectors.upsert(
      { tenant: 'acme', collection },
      texts.map((text, n) => ({ id: `f${n}`, vector: found[n]!, text, metadata: { expert_domain: 'physics', source: 'web' } })),
    );
    const lookUp = (tenant: string) =>
      factLookup(vectors, embedder)(tenant, 'copper wires', { expert_domain: 'physics' }, new AbortController().signal);
    expect((await lookUp('acme')).facts.map(({ text }) => text)).toEqual(['copper conducts best', 'metals conduct']);
    expect((await lookUp('zeta')).facts).toEqual([]);
  });

  it('without filters are only those about what the question names', async () => {
    const vectors = new MemoryVectorStore().connect();
    const scope = { tenant: 'acme', collection: collectionOf(factsPurpose, embedder) };
    await vectors.create(scope, 2);
    const texts = ['copper wires carry current through the Aldersund mill', 'copper is mined', 'poetry of the Aldersund mill'];
    const found = await embedder.embed(texts, { signal: new AbortController().signal });
    await vectors.upsert(
      scope,
      texts.map((text, n) => ({ id: `f${n}`, vector: found[n]!, text, metadata: { source: 'web' } })),
    );
    const { facts } = await factLookup(vectors, embedder)('acme', 'copper wires of the Aldersund mill', {}, new AbortController().signal);
    expect(facts.map(({ text }) => text)).toEqual([texts[0], texts[2]]);
  });
});
