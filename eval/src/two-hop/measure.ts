import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '@conclave/adapter-sqlite';
import type { Further } from '@conclave/contracts';
import { silentLogger } from '@conclave/platform';
import { namesTitle, type Embedder } from '@conclave/ports';
import { searchCollections, searchHits } from '@conclave/service-experts';
import { asMarkdown, collection, fillCollection, tenant } from '../recall/fill.js';
import type { Paragraph, TwoGold } from '../recall/two-hop-corpus.js';

/** Titles among which both gold ones have to be, hits that a task asks for, and findings a second search goes on from. */
const [kept, hits, bases] = [4, 5, 2];

export const places = ['folder', 'uploaded'] as const;
export type Place = (typeof places)[number];

/**
 * What the planner asks on the second hop: nothing (`single`), the question with the text of each of the two best hits (`mechanical`), the
 * first name in each that the question does not hold (`name`), or the title of the paragraph that is missing (`ideal`).
 */
export const planners = ['single', 'mechanical', 'name', 'ideal'] as const;
export type Planner = (typeof planners)[number];

/** Share of the questions, 0 to 1, of which both gold titles are among the first four. */
export type TwoHopRecall = Readonly<Record<Place, Readonly<Record<Planner, number>>>>;

interface Hit {
  readonly title: string;
  readonly text: string;
}
type SearchFor = (query: string, further?: Further) => Promise<readonly Hit[]>;

/** Searches as the tasks of a committee do: five hits each, on the second hop from what the first one found. */
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

/** The first four titles: those of the single search, or its two best and then the best new one of each later query in turn. */
async function titlesFor(search: SearchFor, { question, gold }: TwoGold, planner: Planner): Promise<readonly string[]> {
  const first = distinct(await search(question));
  const titles = first.map(({ title }) => title);
  const base = first.slice(0, bases);
  if (planner === 'single') return titles.slice(0, kept);
  const queries =
    planner === 'ideal'
      ? gold.filter((title) => !titles.slice(0, bases).includes(title))
      : base.map((hit) => (planner === 'mechanical' ? `${question} ${hit.text}` : nameIn(hit, question)));
  const further = { question, found: base.map(({ title, text }) => ({ title, text })) };
  const later: string[][] = [];
  for (const query of queries) later.push(distinct(await search(query, further)).map(({ title }) => title));
  const out = titles.slice(0, bases);
  for (let turn = 0; turn < hits && out.length < kept; turn += 1)
    for (const list of later) {
      const next = list.find((title) => !out.includes(title));
      if (next !== undefined && out.length < kept) out.push(next);
    }
  return out;
}

const distinct = (found: readonly Hit[]): readonly Hit[] =>
  found.filter(({ title }, n) => found.findIndex((other) => other.title === title) === n);

/** The first name in a text that neither the question nor its own title holds; its title if there is none. */
function nameIn({ title, text }: Hit, question: string): string {
  const names = text.match(/\p{Lu}[\p{L}\p{N}'’.-]+(?: (?:of |the |de |von |van )?\p{Lu}[\p{L}\p{N}'’.-]+)*/gu) ?? [];
  return names.find((name) => !namesTitle(`${question} ${title}`, name) && name.length > 3) ?? title;
}
