import { queryWords, type SearchHit } from '@conclave/ports';

/** A word that is written like a name in source code, such as `retryDelay`, `retry_delay` or `retry()`, or between backquotes. */
const nameInCode =
  /`([\p{L}_$][\p{L}\p{N}_$]*)`|(?<![\p{L}\p{N}_$])(?:([\p{L}_$][\p{L}\p{N}_$]*)\(\)|([\p{L}_$]*(?:\p{Ll}\p{Lu}|\p{L}_\p{L})[\p{L}\p{N}_$]*))/gu;
const defining =
  'class|const|def|enum|fn|fun|func|function|impl|interface|let|module|private|protected|public|static|struct|sub|table|trait|type|val|var|void';

export interface CodeHits {
  readonly documents: readonly SearchHit[];
  readonly code: readonly SearchHit[];
  /** Of source code, those that contain a name of the query. */
  readonly naming: readonly SearchHit[];
}

/**
 * The hits of documents and of source code as one list. Definitions of names in the query come first. Otherwise a question in plain words is
 * about what is written in sentences: code takes the places that documents leave, or the last one if it has more words of the query.
 */
export function withCode({ documents, code, naming }: CodeHits, query: string, most: number): readonly SearchHit[] {
  const definitions = naming.filter(definesOneOf(namesIn(query))).slice(0, Math.ceil(most / 3));
  const shown = new Set(definitions.map(({ snippet }) => snippet));
  const others = code.filter(({ snippet }) => !shown.has(snippet));
  const room = most - definitions.length;
  const words = queryWords(query).map((word) => word.toLowerCase());
  const said = ({ title, snippet }: SearchHit): number => {
    const text = `${title} ${snippet}`.toLowerCase();
    return words.filter((word) => text.includes(word)).length;
  };
  const last = documents[room - 1];
  const isCodeNearer =
    room > 1 && definitions.length === 0 && last !== undefined && others[0] !== undefined && said(others[0]) > said(last);
  return [...definitions, ...documents.slice(0, isCodeNearer ? room - 1 : room), ...others].slice(0, most);
}

/** An FTS5 expression that finds names of source code in the query; null without one. */
export function nameExpression(query: string): string | null {
  const names = namesIn(query);
  return names.length === 0 ? null : names.map((name) => `"${name}"`).join(' OR ');
}

const namesIn = (query: string): readonly string[] => [...query.matchAll(nameInCode)].map((found) => (found[1] ?? found[2] ?? found[3])!);

function definesOneOf(names: readonly string[]): (hit: SearchHit) => boolean {
  if (names.length === 0) return () => false;
  const any = names.map((name) => name.replaceAll('$', '\\$')).join('|');
  const definition = new RegExp(`\\b(?:${defining})\\b[^\\n]{0,60}?(?<![\\p{L}\\p{N}_$])(?:${any})(?![\\p{L}\\p{N}_$])`, 'iu');
  return ({ snippet }) => definition.test(snippet);
}
