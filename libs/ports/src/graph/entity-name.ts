/** Longest name of an entity, in characters (UTF-16 units): what is longer is a text and no name, and no index takes it. */
export const longestName = 200;

/** Words that say nothing about what an entity is; they stand in too many names. */
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

/** Same normal form in every adapter: NFKC, trimmed, inner white space folded, lower case. */
export const normaliseEntity = (name: string): string => name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();

/** Control characters, marks that turn the direction of text, and halves of characters: none of them belongs to a name. */
const noName = /[\p{Cc}\p{Surrogate}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

export interface EntityName {
  /** As people write it. */
  readonly name: string;
  readonly normal: string;
  /** Normal forms it is known by besides. */
  readonly aliases: readonly string[];
}

/**
 * The entity a name stands for; null where nothing is left of it or it is longer than `longestName`.
 * A short form in brackets is an alias: `World Health Organization (WHO)` is the entity `World Health Organization`, also found as
 * `WHO`. Brackets that tell two things of one name apart, such as `Mercury (planet)`, stay.
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

/** Words of a normal form by which it is found; an English plural and its singular are the same word. */
export const wordsOf = (normal: string): readonly string[] => [
  ...new Set(
    (normal.match(/[\p{L}\p{N}]+/gu) ?? [])
      .filter((word) => word.length > 2 && !fillers.has(word))
      .map((word) => (word.length > 4 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word)),
  ),
];
