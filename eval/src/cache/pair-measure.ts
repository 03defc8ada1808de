import { sameQuestion } from '@conclave/strategies';
import type { Half } from '../halves.js';
import type { QuestionPair } from './pairs/question-pair.js';

/** One vector a text, in the order of the texts, all of one length. */
export type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** moe.md, Caches: a stored question nearer than this may be the same. */
export const hitBelow = 0.15;

/** Cosine distance, 0 to 2; 1 when a vector is all zeros (of texts without a known word). */
export function distance(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let ofA = 0;
  let ofB = 0;
  for (let index = 0; index < a.length; index += 1) {
    dot += a[index]! * b[index]!;
    ofA += a[index]! ** 2;
    ofB += b[index]! ** 2;
  }
  return ofA === 0 || ofB === 0 ? 1 : 1 - dot / Math.sqrt(ofA * ofB);
}

/** Counts over the pairs of one kind and half. */
export interface PairTally {
  readonly kind: QuestionPair['kind'];
  readonly half: Half;
  readonly pairs: number;
  /** Passed by the comparison of words. */
  readonly same: number;
  /** Nearer than `hitBelow`; null without an embedder. */
  readonly near: number | null;
  /** Both: what the cache would serve; null without an embedder. */
  readonly hits: number | null;
}

export async function measurePairs(pairs: readonly QuestionPair[], embed: Embed | null): Promise<readonly PairTally[]> {
  const vectors = embed && (await embed(pairs.flatMap(({ first, second }) => [first, second])));
  const tallies = new Map<string, PairTally>();
  pairs.forEach((pair, position) => {
    const key = `${pair.kind} ${pair.half}`;
    const tally = tallies.get(key) ?? { kind: pair.kind, half: pair.half, pairs: 0, same: 0, near: vectors && 0, hits: vectors && 0 };
    const isSame = sameQuestion(pair.first, pair.second).same;
    const isNear = vectors && distance(vectors[2 * position]!, vectors[2 * position + 1]!) < hitBelow;
    tallies.set(key, {
      ...tally,
      pairs: tally.pairs + 1,
      same: tally.same + Number(isSame),
      near: tally.near === null ? null : tally.near + Number(isNear),
      hits: tally.hits === null ? null : tally.hits + Number(isSame && isNear === true),
    });
  });
  return [...tallies.values()];
}

/** Sum of one count over the tallies that `of` picks. */
export const sumOf = (
  tallies: readonly PairTally[],
  count: 'pairs' | 'same' | 'near' | 'hits',
  of: (tally: PairTally) => boolean,
): number => tallies.filter(of).reduce((sum, tally) => sum + (tally[count] ?? 0), 0);

export const isParaphrase = ({ kind }: Pick<PairTally, 'kind'>): boolean => kind === 'paraphrase';
