/** Numbers that one feature touches. */
const places = 4;

/** FNV-1a over the UTF-16 units, mixed once more so that near texts differ in every bit. */
function hashOf(text: string, seed: number): number {
  let hash = (2_166_136_261 ^ seed) >>> 0;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/**
 * Adds a feature of length `weight` to `sum[start..start + length)`: a sparse random direction that depends on its text alone, so
 * that equal features meet and different ones are nearly orthogonal (feature hashing, Weinberger et al. 2009).
 */
export function addFeature(feature: string, weight: number, sum: Float64Array, start: number, length: number): void {
  for (let place = 0; place < places; place += 1) {
    const hash = hashOf(feature, Math.imul(place + 1, 0x9e3779b1));
    sum[start + (hash % length)]! += (hash & 0x40000000 ? weight : -weight) / Math.sqrt(places);
  }
}

/** Runs of three characters with the ends of the word marked; of two where a script writes words in one or two characters. */
export function runsOf(word: string): readonly string[] {
  const characters = [...`<${word}>`];
  const length = /[\u2e80-\u9fff\uac00-\ud7af\u{20000}-\u{3ffff}]/u.test(word) ? 2 : 3;
  return Array.from({ length: Math.max(1, characters.length - length + 1) }, (_, at) => characters.slice(at, at + length).join(''));
}
