/** A stream of numbers that depends only on its seed. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** Whole number in [0, below). */
  below(below: number): number;
  /** Whole number in [from, to]. */
  between(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  shuffled<T>(items: readonly T[]): T[];
  /** An independent stream, so that draws for one purpose do not shift those for another. */
  fork(name: string): Random;
}

/** Jest runs tests in a separate context, where every access to a global costs as much as the rest of such a loop. */
const { floor, imul } = Math;

/** mulberry32 (Tommy Ettinger, public domain): 32 bits of state are enough for a test run. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = imul(t ^ (t >>> 15), t | 1);
    t ^= t + imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => floor(next() * limit);
  return {
    next,
    below,
    between: (from, to) => from + below(to - from + 1),
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)]!,
    shuffled: (items) => {
      const left = [...items];
      return items.map(() => left.splice(below(left.length), 1)[0]!);
    },
    fork: (name) => randomFrom(hashText(name, seed)),
  };
}

/** FNV-1a over the UTF-16 units of a text, continued from `from`. */
export function hashText(text: string, from = 0x811c9dc5): number {
  let hash = from >>> 0;
  for (let at = 0; at < text.length; at += 1) hash = imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
