import type { Fact, Source } from '@conclave/contracts';

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

/** The source list under an answer, empty without citations. Numbers of one source share a line. */
export function sourceList(citations: readonly Citation[]): string {
  const lines = new Map<string, { numbers: number[]; source: Source }>();
  for (const { n, source } of citations) {
    const key = source.url ?? `${source.title} (${source.call ?? ''})`;
    const line = lines.get(key) ?? { numbers: [], source };
    line.numbers.push(n);
    lines.set(key, line);
  }
  if (lines.size === 0) return '';
  const listed = [...lines.values()];
  const nameOf = namesAmong(listed.map(({ source }) => source));
  return `\n\nSources:\n${listed.map(({ numbers, source }) => `${numbers.map((n) => `[${n}]`).join('')} ${nameOf(source)}`).join('\n')}`;
}

/** Facts as the numbered sources of an answer, and the list of them under it. */
export function numbered(facts: readonly Fact[]) {
  const nameOf = namesAmong(facts.map(({ source }) => source));
  return {
    sources: facts.map(({ source }, index) => ({ ...source, n: index + 1 })),
    list: `Sources:\n${facts.map(({ source }, index) => `[${index + 1}] ${nameOf(source)}`).join('\n')}`,
  };
}

/**
 * How a list names its sources: title and address, and the arguments of a call only if the list contains other calls of the same tool,
 * because the answer usually repeats those of the only one.
 */
function namesAmong(sources: readonly Source[]): (source: Source) => string {
  const calls = new Map<string, Set<string | undefined>>();
  for (const { title, call } of sources) calls.set(title, (calls.get(title) ?? new Set()).add(call));
  return ({ title, call, url }) => {
    const name = call !== undefined && calls.get(title)!.size > 1 ? `${title} (${call})` : title;
    return url ? `${name} — ${url}` : name;
  };
}
