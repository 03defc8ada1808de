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
    const key = source.url ?? source.title;
    const line = lines.get(key) ?? { numbers: [], source };
    line.numbers.push(n);
    lines.set(key, line);
  }
  if (lines.size === 0) return '';
  return `\n\nSources:\n${[...lines.values()].map(({ numbers, source }) => `${numbers.map((n) => `[${n}]`).join('')} ${source.title}${source.url ? ` — ${source.url}` : ''}`).join('\n')}`;
}
