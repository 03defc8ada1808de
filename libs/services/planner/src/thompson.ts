/** Weights of a model's good and bad outcomes, without a prior. */
export interface RatingCounts {
  readonly model: string;
  readonly positive: number;
  readonly negative: number;
}

/** Returns numbers from 0 up to but not including 1. */
export type RandomSource = () => number;

/** Below this expected share of good outcomes a model is skipped, once this many outcomes are known. */
export const skippedBelow = 0.3;
export const observationsToSkip = 5;

/** Mean of the Beta posterior over a uniform prior: the expected share of good outcomes. */
export const posteriorMean = ({ positive, negative }: RatingCounts): number => (1 + positive) / (2 + positive + negative);

/** A draw from the standard normal distribution (Box and Muller, 1958). */
const normalDraw = (random: RandomSource): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/**
 * A draw from the gamma distribution with this shape, at least 1, and scale 1: Marsaglia and Tsang, "A simple method for generating
 * gamma variables", 2000. If the random source is stuck on one number, returns the middle of the distribution after some tries.
 */
function gammaDraw(shape: number, random: RandomSource): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (let tries = 0; tries < 1_000; tries += 1) {
    const x = normalDraw(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
  return d;
}

/** A draw from the Beta distribution, both parameters at least 1, by two gamma draws. */
export function betaDraw(alpha: number, beta: number, random: RandomSource): number {
  const a = gammaDraw(alpha, random);
  const b = gammaDraw(beta, random);
  return a / (a + b);
}

/**
 * The models in the order they are tried: by one draw each from its posterior, so that better models are asked more often and the
 * others still get a chance (Thompson, 1933). Known bad ones are omitted unless none would remain. Each model once.
 */
export function thompsonOrder(known: readonly RatingCounts[], random: RandomSource): readonly string[] {
  const once = [...new Map(known.map((counts) => [counts.model, counts])).values()];
  const isBad = (counts: RatingCounts): boolean =>
    counts.positive + counts.negative >= observationsToSkip && posteriorMean(counts) < skippedBelow;
  const good = once.filter((counts) => !isBad(counts));
  return (good.length > 0 ? good : once)
    .map(({ model, positive, negative }) => ({ model, drawn: betaDraw(1 + positive, 1 + negative, random) }))
    .sort((one, other) => other.drawn - one.drawn)
    .map(({ model }) => model);
}
