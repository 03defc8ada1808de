import { expect, it } from '@jest/globals';
import { documentsCollection, MemoryVectorStore, type Embedder } from '@conclave/ports';
import { searchCollections } from './collection-search.js';

/** Every query points the same way, and so does the text about the market. */
const embedder = {
  id: 'flat',
  dimension: 2,
  reads: 'words',
  embed: async (texts: readonly string[]) => texts.map(() => Float32Array.of(1, 0)),
} as unknown as Embedder;

it('a search that continues from two findings ranks what full text finds for one of them above what is only near all of them', async () => {
  const vectors = new MemoryVectorStore().connect();
  const scope = { tenant: 'acme', collection: documentsCollection('manuals', embedder) };
  await vectors.create(scope, 2);
  const texts = [
    ['Market', 'Stalls are open daily.', 1],
    ['Quist', 'Quist was a glazier from Elmford.', 0],
    ['Works', 'The works belonged to Quist.', 0],
    ['Mill', 'The mill burned.', 0],
  ] as const;
  await vectors.upsert(
    scope,
    texts.map(([title, text, near], n) => ({
      id: `d${n}#0`,
      vector: Float32Array.of(near, 1 - near),
      text,
      metadata: { document: `d${n}`, title, heading: '' },
    })),
  );
  const further = { question: 'Whose was it?', found: texts.slice(2).map(([title, text]) => ({ title, text })) };
  const asked = { query: 'unknown', collections: ['manuals'], filters: {}, limit: 2, further };
  const { chunks } = await searchCollections(vectors, embedder, 'acme', asked, new AbortController().signal);
  expect(chunks.map(({ title }) => title)).toEqual(['Quist', 'Market']);
});

it('passages are separated from their headings, even when a search compares them with earlier findings', async () => {
  const vectors = new MemoryVectorStore().connect();
  const scope = { tenant: 'acme', collection: documentsCollection('manuals', embedder) };
  await vectors.create(scope, 2);
  const about = { document: 'd1', title: 'Ada Quist' };
  await vectors.upsert(scope, [
    {
      id: 'd1#0',
      vector: Float32Array.of(1, 0),
      text: '# Ada Quist\n\nAda Quist was a glazier.',
      metadata: { ...about, heading: 'Ada Quist' },
    },
    {
      id: 'd1#1',
      vector: Float32Array.of(1, 0),
      text: 'Ada Quist\n## Works\n\nA window.',
      metadata: { ...about, heading: 'Ada Quist / Works' },
    },
  ]);
  const asked = { query: 'Ada Quist', collections: ['manuals'], filters: {}, limit: 2 };
  const { signal } = new AbortController();
  const { chunks } = await searchCollections(vectors, embedder, 'acme', asked, signal);
  expect(chunks.map(({ text }) => text).sort()).toEqual(['Ada Quist was a glazier.', 'Works:\nA window.']);
  const [{ title, text }] = chunks as [(typeof chunks)[number]];
  const again = await searchCollections(
    vectors,
    embedder,
    'acme',
    { ...asked, further: { question: 'Who?', found: [{ title, text }] } },
    signal,
  );
  expect(again.chunks.map((chunk) => chunk.text)).toEqual(chunks.slice(1).map((chunk) => chunk.text));
});
