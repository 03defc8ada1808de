import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BuiltInEmbedder } from '@conclave/adapter-embedder';
import { openSqlite } from '@conclave/adapter-sqlite';
import { silentLogger } from '@conclave/platform';
import { MemoryVectorStore, type Embedder, type Vectors } from '@conclave/ports';
import { searchCollections } from '@conclave/service-experts';
import { asMarkdown, collection, fillCollection, tenant } from './fill.js';
import type { Paragraph, TwoGold } from './two-hop-corpus.js';

/** Number of titles that must include both gold ones. */
const kept = 4;
/** Hits that a task asks for. */
const hits = 5;

export const ways = ['folder', 'uploaded, embedded store', 'uploaded, index in memory'] as const;
export type Way = (typeof ways)[number];
/** `long`: a question followed by the text of its two best paragraphs, as a re-plan writes it. */
export const wordings = ['short', 'long'] as const;
export type Wording = (typeof wordings)[number];

/** Share of the questions, 0 to 1, for which both gold titles are among the first four. */
export type Recall = Readonly<Record<Way, Readonly<Record<Wording, number>>>>;

/** The same paragraphs as files of a folder and as documents of a collection, queried in the same way. */
export async function measureRecall(paragraphs: readonly Paragraph[], questions: readonly TwoGold[]): Promise<Recall> {
  const home = mkdtempSync(join(tmpdir(), 'conclave-recall-'));
  const signal = new AbortController().signal;
  const sqlite = openSqlite({ home: join(home, 'data'), processId: 'measure', durability: 'process', logger: silentLogger });
  const embedder = BuiltInEmbedder.open();
  try {
    const folder = join(home, 'documents');
    mkdirSync(folder);
    paragraphs.forEach(({ title, text }, n) => writeFileSync(join(folder, `${n}.md`), asMarkdown({ title, text })));
    const corpus = await sqlite.corpus(folder);
    const memory = new MemoryVectorStore().connect();
    for (const vectors of [sqlite.vectors, memory]) await fillCollection(vectors, embedder, paragraphs, signal);
    const searches: Readonly<Record<Way, (query: string) => Promise<readonly string[]>>> = {
      folder: async (query) => (await corpus.query({ query, limit: hits, signal })).map(({ title }) => title),
      'uploaded, embedded store': (query) => uploaded(sqlite.vectors, embedder, query, signal),
      'uploaded, index in memory': (query) => uploaded(memory, embedder, query, signal),
    };
    const recall = Object.fromEntries(ways.map((way) => [way, { short: 0, long: 0 }])) as Record<Way, Record<Wording, number>>;
    for (const { question, gold } of questions) {
      const best = await corpus.query({ query: question, limit: 2, signal });
      const queries = { short: question, long: [question, ...best.map(({ snippet }) => snippet)].join(' ') };
      for (const way of ways)
        for (const wording of wordings) {
          const titles = [...new Set(await searches[way](queries[wording]))].slice(0, kept);
          if (gold.every((title) => titles.includes(title))) recall[way][wording] += 1 / questions.length;
        }
    }
    return recall;
  } finally {
    await sqlite.close();
    await embedder.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function uploaded(vectors: Vectors, embedder: Embedder, query: string, signal: AbortSignal): Promise<readonly string[]> {
  const { chunks } = await searchCollections(
    vectors,
    embedder,
    tenant,
    { query, collections: [collection], filters: {}, limit: hits },
    signal,
  );
  return chunks.map(({ title }) => title);
}
