import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '@conclave/adapter-sqlite';
import type { Further } from '@conclave/contracts';
import { silentLogger } from '@conclave/platform';
import type { Embedder } from '@conclave/ports';
import { searchCollections, searchHits } from '@conclave/service-experts';
import { oneLine } from '@conclave/strategies';
import { asMarkdown, collection, fillCollection, tenant } from '../recall/fill.js';
import type { Paragraph, TwoGold } from '../recall/two-hop-corpus.js';
import { bases, distinct, planners, queryFrom, titlesKept, type Hit, type Planner } from './planners.js';

/** Hits that a task asks for. */
const hits = 5;

export const places = ['folder', 'uploaded'] as const;
export type Place = (typeof places)[number];

/** Share of the questions, 0 to 1, for which both gold titles are among the first four. */
export type TwoHopRecall = Readonly<Record<Place, Readonly<Record<Planner, number>>>>;

type SearchFor = (query: string, further?: Further) => Promise<readonly Hit[]>;

/** Searches like the tasks of a committee: five hits each, on the second hop from what the first one found. */
export async function measureTwoHops(
  paragraphs: readonly Paragraph[],
  questions: readonly TwoGold[],
  embedder: Embedder,
): Promise<TwoHopRecall> {
  const home = mkdtempSync(join(tmpdir(), 'conclave-two-hop-'));
  const signal = new AbortController().signal;
  const sqlite = openSqlite({ home: join(home, 'data'), processId: 'measure', durability: 'process', logger: silentLogger });
  try {
    const folder = join(home, 'documents');
    mkdirSync(folder);
    paragraphs.forEach((paragraph, n) => writeFileSync(join(folder, `${n}.md`), asMarkdown(paragraph)));
    const corpus = await sqlite.corpus(folder);
    await fillCollection(sqlite.vectors, embedder, paragraphs, signal);
    const searches: Readonly<Record<Place, SearchFor>> = {
      folder: async (query, further) =>
        (await searchHits(corpus, { query, limit: hits, further }, signal)).map(({ title, snippet }) => ({ title, text: snippet })),
      uploaded: async (query, further) => {
        const asked = { query, collections: [collection], filters: {}, limit: hits, ...(further ? { further } : {}) };
        return (await searchCollections(sqlite.vectors, embedder, tenant, asked, signal)).chunks;
      },
    };
    const measured = { folder: {}, uploaded: {} } as Record<Place, Record<Planner, number>>;
    for (const place of places)
      for (const planner of planners) {
        let found = 0;
        for (const one of questions) {
          const titles = await titlesFor(searches[place], one, planner);
          if (one.gold.every((title) => titles.includes(title))) found += 1;
        }
        measured[place][planner] = found / questions.length;
      }
    return measured;
  } finally {
    await sqlite.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function titlesFor(search: SearchFor, { question, gold }: TwoGold, planner: Planner): Promise<readonly string[]> {
  const first = distinct(await search(question));
  const titles = first.map(({ title }) => title);
  if (planner === 'single') return titlesKept(titles, []);
  const base = first.slice(0, bases);
  // A planner sees a passage as one line.
  const queries =
    planner === 'ideal'
      ? gold.filter((title) => !titles.slice(0, bases).includes(title))
      : base.map(({ title, text }) => queryFrom({ title, text: oneLine(text) }, question, planner));
  const further = { question, found: base.map(({ title, text }) => ({ title, text })) };
  const later: string[][] = [];
  for (const query of queries) later.push(distinct(await search(query, further)).map(({ title }) => title));
  return later.length === 0 ? titles.slice(0, bases) : titlesKept(titles, later);
}
