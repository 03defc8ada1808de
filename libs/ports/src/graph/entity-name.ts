/** Longest name of an entity, in characters (UTF-16 units): anything longer is a text, not a name, and exceeds the index. */
export const longestName = 200;

/** Words too common in names to identify an entity. */
const fillers = new Set([
  'the',
  'and',
  'for',
  'from',
  'with',
  'der',
  'die',
  'das',
  'des',
  'dem',
  'den',
  'und',
  'von',
  'vom',
  'für',
  'mit',
  'les',
  'del',
]);

/** Same normal form in every adapter: NFKC, trimmed, inner white space collapsed, lower case. */
export const normaliseEntity = (name: string): string => name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();

/** Control characters, direction marks and unpaired surrogates: none of them belongs in a name. */
const noName = /[\p{Cc}\p{Surrogate}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

export interface EntityName {
  /** As written by people. */
  readonly name: string;
  readonly normal: string;
  /** Normal forms of its other names. */
  readonly aliases: readonly string[];
}

/**
 * Parses the name of an entity; null if nothing remains of it or it is longer than `longestName`. A short form in brackets is an alias:
 * `World Health Organization (WHO)` is the entity `World Health Organization`, also found as `WHO`. Brackets that distinguish two things of
 * one name, such as `Mercury (planet)`, stay.
 */
export function entityName(raw: string): EntityName | null {
  if (raw.length > 4 * longestName) return null;
  const name = raw.replace(noName, ' ').replace(/\s+/g, ' ').trim();
  const short = /^(.*\p{L}.*?) \(([\p{Lu}\p{N}][\p{Lu}\p{N}.&-]{1,9})\)$/u.exec(name);
  const [, whole, alias] = short && /\p{Lu}/u.test(short[2]!) ? short : [null, name, null];
  const normal = normaliseEntity(whole!);
  if (normal === '' || normal.length > longestName || whole!.length > longestName) return null;
  return { name: whole!, normal, aliases: alias ? [normaliseEntity(alias)] : [] };
}

/** Search words of a normal form; an English plural and its singular are the same word. */
export const wordsOf = (normal: string): readonly string[] => [
  ...new Set(
    (normal.match(/[\p{L}\p{N}]+/gu) ?? [])
      .filter((word) => word.length > 2 && !fillers.has(word))
      .map((word) => (word.length > 4 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word)),
  ),
];
