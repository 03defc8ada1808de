import type { Fact, Source } from '@conclave/contracts';
import type { AnswerWords } from '../answer-words/answer-words.js';
import { oneLine } from '../prompts/quoting.js';
import { languages } from '../answer-words/languages.js';

export interface Citation {
  readonly n: number;
  readonly source: Source;
}

/** Sources of the facts that the text cites as `[n]`, by number; numbers without a fact are omitted. */
export function citedSources(text: string, facts: readonly Fact[]): readonly Citation[] {
  const numbers = new Set(
    [...text.matchAll(/\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g)].flatMap((match) => match[1]!.split(',').map((part) => Number(part.trim()))),
  );
  return [...numbers].sort((a, b) => a - b).flatMap((n) => (facts[n - 1] ? [{ n, source: facts[n - 1]!.source }] : []));
}

/**
 * The source list under an answer, empty without citations. Numbers of one source share a line. Documents of the request are left out if
 * the client shows them by the same numbers.
 */
export function sourceList(citations: readonly Citation[], words: AnswerWords): string {
  const lines = new Map<string, { numbers: number[]; source: Source }>();
  for (const { n, source } of citations) {
    if (source.kind === 'request' && !source.listed) continue;
    const key = source.url ?? `${source.title} (${partOf(source) ?? ''})`;
    const line = lines.get(key) ?? { numbers: [], source };
    line.numbers.push(n);
    lines.set(key, line);
  }
  if (lines.size === 0) return '';
  const listed = [...lines.values()];
  const nameOf = namesAmong(listed.map(({ source }) => source));
  return `\n\n${words.sources}\n${listed.map(({ numbers, source }) => `${numbers.map((n) => `[${n}]`).join('')} ${nameOf(source)}`).join('\n')}`;
}

const sourceHeading = new RegExp(
  `\\n(?:${Object.values(languages)
    .map(({ sources }) => sources)
    .join('|')})\\n`,
);

/** Whether an answer, in any of the languages, ends with a source list. */
export const hasSourceList = (text: string): boolean => sourceHeading.test(text);

/** An answer without its source list and what follows it. */
export const withoutSourceList = (text: string): string => text.split(sourceHeading)[0]!;

/** Facts as the numbered sources of an answer, and the list of them under it. */
export function numbered(facts: readonly Fact[], words: AnswerWords) {
  const nameOf = namesAmong(facts.map(({ source }) => source));
  return {
    sources: facts.map(({ source }, index) => ({ ...source, n: index + 1 })),
    list: `${words.sources}\n${facts.map(({ source }, index) => `[${index + 1}] ${nameOf(source)}`).join('\n')}`,
  };
}

/**
 * How a list names its sources: title and address. The arguments of a call follow only if the list contains other calls of the same tool,
 * because the answer usually repeats those of the only one; the path of a file only if another file has the same title.
 */
function namesAmong(sources: readonly Source[]): (source: Source) => string {
  const parts = new Map<string, Set<string | undefined>>();
  for (const source of sources) parts.set(source.title, (parts.get(source.title) ?? new Set()).add(partOf(source)));
  return (source) => {
    const { title, url } = source;
    const part = partOf(source);
    const name = asName(part !== undefined && parts.get(title)!.size > 1 ? `${title} (${part})` : title);
    return url ? `${name} — ${asName(url)}` : name;
  };
}

/**
 * A foreign name in a list that clients show as Markdown: on one line, and neither a link, whose address would not be that of the source, nor
 * a picture, nor HTML.
 */
const asName = (text: string): string =>
  oneLine(text)
    .replaceAll('](', '] (')
    .replace(/<(?=[a-z/!?])/giu, '‹');

/** What tells a source from others with its title. The id of an upload says nothing to a person. */
const partOf = ({ kind, call, document }: Source): string | undefined => call ?? (kind === 'corpus' ? document : undefined);
