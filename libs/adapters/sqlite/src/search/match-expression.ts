import { queryWords } from '@conclave/ports';

/**
 * An FTS5 expression that finds passages with any of the words; null when the query has none. Every word stands in
 * quotes and holds letters and digits only, so nothing of a query is ever read as syntax.
 */
export function matchExpression(query: string): string | null {
  const terms = queryWords(query);
  return terms.length === 0 ? null : terms.map((term) => `"${term}"`).join(' OR ');
}
