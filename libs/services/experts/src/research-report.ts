import { bounded, boundedDetail, type Fact, type FailureNote, type TaskDispatched } from '@conclave/contracts';
import { hostOf, noticesOfHits, type FoundHits, type ReadPage } from './research-sources.js';

/** A page to read, and the outcome. */
export interface PageOutcome {
  readonly url: string;
  readonly page: ReadPage | null;
  readonly failure: FailureNote | null;
}

/** Everything one research task found. */
export interface Findings {
  readonly query: string;
  readonly kind: 'web' | 'corpus';
  readonly found: FoundHits;
  readonly pages: readonly PageOutcome[];
  /** Milliseconds since 1970, for computing ages. */
  readonly now: number;
}

const flat = (text: string): string =>
  text
    .replace(/[\s#*_`|>-]+/g, ' ')
    .trim()
    .toLowerCase();

/** Each hit as a sourced fact, followed by the passages of its page; a snippet contained in a passage is omitted. */
export function factsOf({ found, pages, kind }: Findings, { taskId, epoch }: Pick<TaskDispatched['data'], 'taskId' | 'epoch'>): Fact[] {
  const read = new Map(pages.map((outcome) => [outcome.url, outcome.page]));
  return found.hits.flatMap((hit) => {
    const page = hit.url === null ? null : (read.get(hit.url) ?? null);
    const file = hit.document === undefined ? {} : { document: hit.document };
    const source = { kind, title: hit.title || page?.title || 'Untitled', url: page?.url ?? hit.url, ...file };
    const passages = page?.passages ?? [];
    const snippet = flat(hit.snippet);
    const said = snippet === '' || passages.some((passage) => flat(passage).includes(snippet));
    return [...(said ? [] : [hit.snippet]), ...passages].map((text): Fact => ({ text, source, taskId, epoch, confidence: null }));
  });
}

/** Notes for readers of the facts. They quote no external text except host names, because notes are outside the quoted data. */
export function notesOf({ found, pages, now }: Findings): string[] {
  const notes: string[] = [];
  if (found.hits.length === 0) notes.push('The search found nothing.');
  const origin = originOf(found, now);
  if (origin) notes.push(`The results come ${origin}.`);
  notes.push(...found.notes);
  const hostile = noticesOfHits(found.hits);
  notes.push(...hostile.map((notice) => `Results: ${notice}`));
  for (const { url, page, failure } of pages) {
    const host = hostOf(url);
    if (failure) notes.push(`A page of ${host} was not read, its snippet is used: ${failure.message}`);
    const kept = page ? originOf(page, now) : null;
    if (kept) notes.push(`The page of ${host} comes ${kept}.`);
    if (page) notes.push(...page.notices.map((notice) => `Page of ${host}: ${notice}`));
  }
  return notes;
}

/** `from the cache, 12 min old`, or null for a fresh result. */
function originOf({ origin, at }: Pick<FoundHits, 'origin' | 'at'>, now: number): string | null {
  if (origin === 'run') return 'from earlier in this run';
  return origin === 'cache' ? `from the cache, ${Math.max(0, Math.round((now - at) / 60_000))} min old` : null;
}

/** One line for people: number of results, origin, numbered sources. */
export function resultLine({ found, pages, now, kind }: Findings): string {
  const { hits } = found;
  const count = `${hits.length} ${hits.length === 1 ? 'result' : 'results'}`;
  const origin = originOf(found, now);
  const read = pages.filter(({ page }) => page !== null).length;
  const unread = pages.length - read;
  const kept = pages.filter(({ page }) => page?.origin === 'cache').length;
  const ofCache = kept > 0 ? `, ${kept} of them from the cache` : '';
  const aside = [
    origin,
    read > 0 ? `${read} ${read === 1 ? 'page' : 'pages'} read${ofCache}` : null,
    unread > 0 ? `${unread} not readable` : null,
  ];
  const said = aside.filter((part) => part !== null).join(', ');
  const sources = hits.map(
    ({ title, url }, index) => `[${index + 1}] ${bounded(title || 'Untitled', 80)}${url ? ` (${hostOf(url)})` : ''}`,
  );
  return `${kind === 'web' ? 'Web' : 'Documents'}: ${count}${said === '' ? '' : ` (${said})`}${sources.length === 0 ? '' : `: ${sources.join('; ')}`}`;
}

/** Query, results and passages read, unredacted; for runs that may show everything. */
export function resultDetail({ query, found, pages }: Findings): string {
  const read = new Map(pages.map((outcome) => [outcome.url, outcome]));
  const results = found.hits.map(({ title, url, snippet }, index) => {
    const outcome = url === null ? undefined : read.get(url);
    const passages = outcome?.page?.passages.map((passage) => `  > ${passage}`) ?? [];
    const failed = outcome?.failure ? [`  ! ${outcome.failure.code}: ${outcome.failure.message}`] : [];
    return [`[${index + 1}] ${title} <${url ?? '-'}>`, `  ${snippet}`, ...passages, ...failed].join('\n');
  });
  return boundedDetail([`Query: ${query}`, ...results].join('\n\n'));
}
