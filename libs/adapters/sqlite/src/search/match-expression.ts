import { queryWords } from '@conclave/ports';

/**
 * An FTS5 expression that finds passages with any of the words; null when the query has no words. Every word is quoted and has only
 * letters and digits, so no part of a query is read as syntax.
 */
export function matchExpression(query: string): string | null {
  const terms = queryWords(query);
  return terms.length === 0 ? null : terms.map((term) => `"${term}"`).join(' OR ');
}
