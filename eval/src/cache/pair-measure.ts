import { cosineDistance } from '@conclave/ports';
import { nearestDistance } from '@conclave/strategies';
import { sameQuestion } from '@conclave/questions/sameness';
import type { Half } from '../halves.js';
import type { QuestionPair } from './pairs/question-pair.js';

/** One vector per text, in the order of the texts, all of one length. */
export type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

export interface JudgedPair {
  /** Cosine distance of the two questions, 0 to 2. */
  readonly distance: number;
  /** Near enough for the semantic cache to compare the words. */
  readonly isNear: boolean;
  /** Accepted by the comparison of words. */
  readonly isSame: boolean;
  /** Both: the cache would serve the answer to one question for the other. */
  readonly isHit: boolean;
}

/** What the gateway's semantic cache decides for each pair, by the same two functions that it calls. */
export async function judgePairs(
  pairs: readonly { readonly first: string; readonly second: string }[],
  embed: Embed,
): Promise<readonly JudgedPair[]> {
  const vectors = await embed(pairs.flatMap(({ first, second }) => [first, second]));
  return pairs.map(({ first, second }, position) => {
    const distance = cosineDistance(vectors[2 * position]!, vectors[2 * position + 1]!);
    const isNear = distance < nearestDistance;
    const isSame = sameQuestion(second, first).same;
    return { distance, isNear, isSame, isHit: isNear && isSame };
  });
}

/** Counts over the pairs of one kind and half. */
export interface PairTally {
  readonly kind: QuestionPair['kind'];
  readonly half: Half;
  readonly pairs: number;
  /** Accepted by the comparison of words. */
  readonly same: number;
  /** Nearer than `nearestDistance`. */
  readonly near: number;
  /** Both: what the cache would serve. */
  readonly hits: number;
}

export async function measurePairs(pairs: readonly QuestionPair[], embed: Embed): Promise<readonly PairTally[]> {
  const judged = await judgePairs(pairs, embed);
  const tallies = new Map<string, PairTally>();
  pairs.forEach(({ kind, half }, position) => {
    const key = `${kind} ${half}`;
    const tally = tallies.get(key) ?? { kind, half, pairs: 0, same: 0, near: 0, hits: 0 };
    const { isSame, isNear, isHit } = judged[position]!;
    tallies.set(key, {
      ...tally,
      pairs: tally.pairs + 1,
      same: tally.same + Number(isSame),
      near: tally.near + Number(isNear),
      hits: tally.hits + Number(isHit),
    });
  });
  return [...tallies.values()];
}

/** Sum of one count over the tallies that `of` selects. */
export const sumOf = (
  tallies: readonly PairTally[],
  count: 'pairs' | 'same' | 'near' | 'hits',
  of: (tally: PairTally) => boolean,
): number => tallies.filter(of).reduce((sum, tally) => sum + tally[count], 0);

export const isParaphrase = ({ kind }: Pick<PairTally, 'kind'>): boolean => kind === 'paraphrase';
