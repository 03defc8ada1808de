/** Code units that belong to the previous character: marks, joiners, low surrogates. */
const continues = /\p{M}|\u200d|[\udc00-\udfff]/u;
/** Longer runs of marks occur in no script; they are cut between code points. */
const longestCharacter = 32;

/** The last position, at most `to`, that splits no character. */
export function characterBorder(text: string, from: number, to: number): number {
  const least = Math.max(from + 1, to - longestCharacter);
  for (let at = to; at > least; at -= 1) if (!continues.test(text[at]!) && text[at - 1] !== '\u200d') return at;
  return /[\udc00-\udfff]/.test(text[to]!) && /[\ud800-\udbff]/.test(text[to - 1]!) ? to - 1 : to;
}

/** Parts of at most `limit` characters. */
export function slicesOf(text: string, limit: number): readonly string[] {
  const slices: string[] = [];
  let from = 0;
  while (text.length - from > limit) {
    const to = characterBorder(text, from, from + limit);
    slices.push(text.slice(from, to));
    from = to;
  }
  return [...slices, text.slice(from)];
}
