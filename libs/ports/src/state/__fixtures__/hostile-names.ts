/** Distinct strings that careless keys confuse, truncate or read as patterns. */
export const hostileNames: readonly string[] = [
  ...['', ' ', 'a', 'A', 'a:', ':a', 'a:a', 'a\n', '{a}', '}:{', '"', '\\', '","', '["a","a"]', '%', '*', '__proto__'],
  // NUL ends a string in C; the first é is one code point, the second is two.
  ...['a\u0000', 'a\u0000b', '\u00e9', 'e\u0301', '🦁'],
  // Halves of a surrogate pair: both have the same replacement in UTF-8.
  ...['\ud83e', '\udd81'],
];

/** All pairs of names. */
export const hostilePairs: readonly (readonly [string, string])[] = hostileNames.flatMap((a) => hostileNames.map((b) => [a, b] as const));
