import { beforeEach, describe, expect, it } from '@jest/globals';
import { documentsCollection, MemoryVectorStore, type Embedder, type Vectors } from '@conclave/ports';
import { discoverDocuments, readDocument } from './collection-documents.js';

const signal = new AbortController().signal;
/** Every text has the same vector, so everything is found by its words. */
const embedder = {
  id: 'flat',
  dimension: 2,
  embed: async (texts: readonly string[]) => texts.map(() => Float32Array.of(1, 0)),
} as unknown as Embedder;

let vectors: Vectors;
beforeEach(async () => {
  vectors = new MemoryVectorStore().connect();
  for (const tenant of ['acme', 'other']) await vectors.create({ tenant, collection: documentsCollection('manuals', embedder) }, 2);
});
const put = (document: string, chunks: readonly (readonly [heading: string, text: string])[], tenant = 'acme') =>
  vectors.upsert(
    { tenant, collection: documentsCollection('manuals', embedder) },
    chunks.map(([heading, text], n) => ({
      id: `${document}#${n}`,
      vector: Float32Array.of(1, n / 1_000),
      text,
      metadata: { document, title: `Title of ${document}`, heading },
    })),
  );
const read = (document: string, more: { passage?: number; maxCharacters?: number; tenant?: string } = {}) => {
  const { passage = 0, maxCharacters = 8_000, tenant = 'acme' } = more;
  return readDocument(vectors, embedder, tenant, { collection: 'manuals', document, passage, maxCharacters });
};

describe('documents of a collection', () => {
  it('are found once each, the one with the best passage first, at most as many as wanted', async () => {
    await put('d1', [
      ['', 'Pumps and valves.'],
      ['', 'A valve is turned. Valves, valves.'],
      ['', 'The weather.'],
    ]);
    await put('d2', [['', 'The weather in spring.']]);
    await put('d3', [['', 'One valve among many other words about the weather and the sea.']]);
    const find = (limit: number, tenant = 'acme') =>
      discoverDocuments(vectors, embedder, tenant, { query: 'valve', collections: ['manuals', 'gone'], limit }, signal);
    const { documents, missing } = await find(10);
    expect(documents.map(({ document }) => document).sort()).toEqual(['d1', 'd2', 'd3']);
    expect(documents[0]).toMatchObject({ collection: 'manuals', document: 'd1', title: 'Title of d1' });
    expect(missing).toEqual(['gone']);
    expect((await find(2)).documents).toHaveLength(2);
    expect((await find(10, 'other')).documents).toEqual([]);
  });

  it('are read whole, without repeated parts of chunks and without the headings before them', async () => {
    await put('d1', [
      ['Start', '# Start\n\nOpen the lid. Look inside.'],
      ['Start', 'Start\nLook inside. Close it.'],
      ['Start / Step 1', 'Start\n## Step 1\n\nPull.'],
    ]);
    expect(await read('d1')).toEqual({
      title: 'Title of d1',
      text: '# Start\n\nOpen the lid. Look inside. Close it.\n\n## Step 1\n\nPull.',
      whole: true,
    });
    await put('d2', [['Start', 'Start\n=====\n\nOpen the lid.']]);
    expect((await read('d2')).text).toBe('Start\n=====\n\nOpen the lid.');
    expect(await read('gone')).toEqual({ title: 'gone', text: '', whole: true });
    expect((await read('d1', { tenant: 'other' })).text).toBe('');
  });

  it('that are too long are read up to the limit, from the beginning or around the passage', async () => {
    await put(
      'long',
      Array.from({ length: 100 }, (_, n) => [`Part ${n}`, `## Part ${n}\n\n${`word${n} `.repeat(20)}`] as const),
    );
    const start = await read('long', { passage: 3, maxCharacters: 1_500 });
    expect(start).toMatchObject({ whole: false, text: expect.stringMatching(/^## Part 0\n/) });
    expect(start.text).toHaveLength(1_500);
    const late = await read('long', { passage: 80, maxCharacters: 1_500 });
    expect(late.text).toMatch(/^## Part 79\n[^]*## Part 80\n/);
    expect((await read('long', { maxCharacters: 8_000 })).text).toContain('## Part 40\n');
  });
});
