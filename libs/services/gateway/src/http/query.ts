import { Failure } from '@conclave/contracts';

const pageSize = { usual: 50, most: 200 };

/** A query parameter, null when absent or empty. Throws REQUEST_INVALID when it is repeated. */
export function textIn(query: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = query[name];
  if (value === undefined || value === '') return null;
  if (typeof value !== 'string') throw new Failure('REQUEST_INVALID', `\`${name}\` must be given once.`, { param: name });
  return value;
}

/** A whole number from 0 in a query, null when absent or empty. Throws REQUEST_INVALID. */
export function numberIn(query: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = textIn(query, name);
  if (value === null) return null;
  if (!/^\d{1,15}$/.test(value)) throw new Failure('REQUEST_INVALID', `\`${name}\` must be a whole number from 0.`, { param: name });
  return Number(value);
}

/** `true` or `false` in a query, false when absent or empty. Throws REQUEST_INVALID. */
export const flagIn = (query: Readonly<Record<string, unknown>>, name: string): boolean =>
  wordIn(query, name, ['true', 'false']) === 'true';

/** One of a few words in a query, null when absent or empty. Throws REQUEST_INVALID. */
export function wordIn<W extends string>(query: Readonly<Record<string, unknown>>, name: string, words: readonly W[]): W | null {
  const value = textIn(query, name);
  const word = words.find((one) => one === value) ?? null;
  if (value !== null && word === null)
    throw new Failure('REQUEST_INVALID', `\`${name}\` must be ${words.map((one) => `"${one}"`).join(' or ')}.`, { param: name });
  return word;
}

/** `limit` of a page: 1 to 200, default 50; more are treated as 200. Throws REQUEST_INVALID. */
export function pageLimit(query: Readonly<Record<string, unknown>>): number {
  const value = textIn(query, 'limit');
  if (value === null) return pageSize.usual;
  if (!/^0*[1-9]\d*$/.test(value)) throw new Failure('REQUEST_INVALID', '`limit` must be a whole number from 1.', { param: 'limit' });
  return Math.min(Number(value), pageSize.most);
}
