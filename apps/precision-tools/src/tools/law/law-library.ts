import { invalid, quoted, Refusal } from '../refusal.js';
import type { FetchFile } from './law-files.js';
import type { Law, LawEntry } from './read-law.js';

/** Converts bytes into a document, in a thread that can be ended. */
export interface LawReader {
  contents(bytes: Uint8Array): Promise<LawEntry[]>;
  law(bytes: Uint8Array): Promise<Law>;
}

/** How long a fetched file is used, in milliseconds: the publisher updates once a day. */
const freshMs = 24 * 60 * 60 * 1_000;
const mostLaws = 16;

interface Cached<Value> {
  value: Promise<Value>;
  fetchedAt: number;
}

/** Lower case, without spaces, points and dashes, so that "SGB V", "sgb_5" and "SGB-V" become as similar as possible. */
export const folded = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[\s._\-–()/]+/g, '');

/** Roman numerals of the books of the Sozialgesetzbuch, for which addresses use digits. */
const books: Readonly<Record<string, string>> = {
  i: '1',
  ii: '2',
  iii: '3',
  iv: '4',
  v: '5',
  vi: '6',
  vii: '7',
  viii: '8',
  ix: '9',
  x: '10',
  xi: '11',
  xii: '12',
  xiv: '14',
};

/** Laws of one server: the table of contents and the most recently requested laws are kept. */
export class LawLibrary {
  private table: Cached<LawEntry[]> | undefined;
  private readonly laws = new Map<string, Cached<Law>>();

  constructor(
    private readonly fetchFile: FetchFile,
    private readonly reader: LawReader,
    private readonly now: () => number = Date.now,
  ) {}

  contents(signal: AbortSignal): Promise<LawEntry[]> {
    if (!this.table || this.now() - this.table.fetchedAt > freshMs) {
      const value = this.fetchFile('gii-toc.xml', signal).then((bytes) => this.reader.contents(bytes));
      this.table = { value, fetchedAt: this.now() };
      // A failure is reported to those who are waiting; the next request tries again.
      value.catch(() => (this.table = undefined));
    }
    return this.table.value;
  }

  /**
   * Finds a law by its name in addresses, its abbreviation or its title. Throws NOT_FOUND with the closest matches, INVALID_ARGUMENT for
   * several matches.
   */
  async find(name: string, signal: AbortSignal): Promise<{ entry: LawEntry; law: Law }> {
    const entry = entryOf(await this.contents(signal), name);
    const known = this.laws.get(entry.path);
    const cached = known && this.now() - known.fetchedAt <= freshMs ? known : undefined;
    const value = cached?.value ?? this.fetchFile(entry.path, signal).then((bytes) => this.reader.law(bytes));
    this.laws.delete(entry.path);
    this.laws.set(entry.path, cached ?? { value, fetchedAt: this.now() });
    const [oldest] = this.laws.keys();
    if (this.laws.size > mostLaws && oldest !== undefined) this.laws.delete(oldest);
    if (!cached) value.catch(() => this.laws.delete(entry.path));
    return { entry, law: await value };
  }
}

function entryOf(entries: readonly LawEntry[], name: string): LawEntry {
  const wanted = folded(name);
  if (wanted === '') throw invalid('law is empty: give an abbreviation such as BGB.');
  const book = /^sgb([ivx]+)$/.exec(wanted)?.[1];
  const spellings = [wanted, ...(book !== undefined && Object.hasOwn(books, book) ? [`sgb${books[book]}`] : [])];
  const bySlug = entries.filter(({ slug }) => spellings.includes(folded(slug)));
  if (bySlug.length > 0) return bySlug[0]!;
  // Many addresses end in the year of the law: ao_1977, ustg_1980.
  const byStem = entries.filter(({ slug }) => spellings.includes(folded(slug.replace(/_\d{4}$/, ''))));
  if (byStem.length === 1) return byStem[0]!;
  const byTitle = entries.filter(({ title }) => folded(title) === wanted);
  if (byTitle.length === 1) return byTitle[0]!;
  const close = [...byStem, ...byTitle];
  if (close.length > 1)
    throw invalid(
      `${quoted(name)} could be ${close
        .slice(0, 8)
        .map(({ slug, title }) => `${slug} (${title})`)
        .join(', ')}: give one of these names.`,
    );
  const near =
    wanted.length < 2 ? [] : entries.filter(({ slug, title }) => folded(slug).includes(wanted) || folded(title).includes(wanted));
  const hint =
    near.length > 0
      ? ` Close are ${near
          .slice(0, 8)
          .map(({ slug, title }) => `${slug} (${title})`)
          .join(', ')}.`
      : ' Look it up with legal_search_laws.';
  throw new Refusal('NOT_FOUND', `There is no law ${quoted(name)}.${hint}`);
}
