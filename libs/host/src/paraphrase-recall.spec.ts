import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BuiltInEmbedder } from '@conclave/adapter-embedder';
import { CorpusSearch } from '@conclave/adapter-sqlite';
import { MemoryVectorStore, type Search, type Vectors } from '@conclave/ports';
import { distractors, regressionPairs, tuningPairs, type Paraphrase } from './__fixtures__/paraphrases.js';

const { signal } = new AbortController();
const scope = { tenant: 'acme', collection: 'paraphrases' };
const texts = [...tuningPairs, ...regressionPairs].map(([, said]) => said).concat(distractors);

describe('among paraphrases and distractors', () => {
  let folder: string;
  let words: Search;
  let vectors: Vectors;
  let embedder: BuiltInEmbedder;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'conclave-recall-'));
    const documents = join(folder, 'documents');
    mkdirSync(documents);
    // The file name is the title, which is searched too: numbers match no words of a question.
    texts.forEach((text, n) => writeFileSync(join(documents, `${n}.md`), text));
    words = await CorpusSearch.open({ folder: documents, index: ':memory:' });
    embedder = BuiltInEmbedder.open();
    vectors = new MemoryVectorStore().connect();
    await vectors.create(scope, embedder.dimension);
    const embedded = await embedder.embed(texts, { signal });
    await vectors.upsert(
      scope,
      texts.map((text, n) => ({ id: `${n}`, vector: embedded[n]!, text, metadata: {} })),
    );
  });
  afterAll(async () => {
    await words.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const byWords = async (query: string): Promise<readonly string[]> =>
    (await words.query({ query, limit: 5, signal })).map(({ snippet }) => snippet);
  const byMeaning = async (query: string): Promise<readonly string[]> => {
    const [vector] = await embedder.embed([query], { signal });
    return (await vectors.query(scope, { vector: vector!, limit: 5 })).hits.map(({ text }) => text);
  };
  /** Share of questions whose paraphrase is among the first five. */
  const recallAt5 = async (pairs: readonly Paraphrase[], search: (query: string) => Promise<readonly string[]>): Promise<number> => {
    let found = 0;
    for (const [asked, said] of pairs) found += Number((await search(asked)).includes(said));
    return found / pairs.length;
  };

  it.each([
    ['tuned on', tuningPairs],
    ['for regression', regressionPairs],
  ])('the built-in embedder finds more than full-text search, in the half %s', async (half, pairs) => {
    const [meaning, fullText] = [await recallAt5(pairs, byMeaning), await recallAt5(pairs, byWords)];
    process.stderr.write(
      `Paraphrase recall@5, ${pairs.length} pairs ${half}, ${texts.length} texts: built-in embedder ${meaning.toFixed(2)}, full text ${fullText.toFixed(2)}\n`,
    );
    expect(pairs.length).toBeGreaterThanOrEqual(30);
    expect(meaning).toBeGreaterThan(fullText + 0.2);
    expect(meaning).toBeGreaterThanOrEqual(0.6);
  });

  it('full-text search finds texts by their own words, so the comparison is fair', async () => {
    for (const text of distractors.slice(0, 10)) expect(await byWords(text)).toContain(text);
  });
});
