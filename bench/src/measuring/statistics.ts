/** Median, quartiles and size of a series. Always print all of them. */
export interface Spread {
  readonly n: number;
  readonly q1: number;
  readonly median: number;
  readonly q3: number;
}

/**
 * Quantile `q` in [0, 1] by linear interpolation between the closest ranks (type 7 of Hyndman and Fan, 1996). Throws
 * RangeError for an empty series or a value that is not a number, so that no unmeasured figure is printed.
 */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new RangeError('An empty series has no quantile.');
  const wrong = values.find((value) => !Number.isFinite(value));
  if (wrong !== undefined) throw new RangeError(`${wrong} was measured; that is not a number.`);
  const sorted = Float64Array.from(values).sort();
  const position = (sorted.length - 1) * q;
  const below = sorted[Math.floor(position)]!;
  const above = sorted[Math.ceil(position)]!;
  return below + (above - below) * (position - Math.floor(position));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const spread = (values: readonly number[]): Spread => ({
  n: values.length,
  q1: quantile(values, 0.25),
  median: median(values),
  q3: quantile(values, 0.75),
});

const resamples = 200;

/** A quantile of all samples, with its quartiles over 200 resamplings with replacement (bootstrap). */
export function resampledQuantile(samples: readonly number[], q: number): Spread {
  const drawn = Array.from({ length: resamples }, () =>
    quantile(
      samples.map(() => samples[Math.floor(Math.random() * samples.length)]!),
      q,
    ),
  );
  return { n: samples.length, q1: quantile(drawn, 0.25), median: quantile(samples, q), q3: quantile(drawn, 0.75) };
}

/** Combines two series of the same rounds element by element. */
export function paired(a: readonly number[], b: readonly number[], combine: (a: number, b: number) => number): readonly number[] {
  if (a.length !== b.length) throw new RangeError(`${a.length} and ${b.length} rounds cannot be paired.`);
  return a.map((value, index) => combine(value, b[index]!));
}

export const ratios = (a: readonly number[], b: readonly number[]): readonly number[] => paired(a, b, (x, y) => x / y);
export const differences = (a: readonly number[], b: readonly number[]): readonly number[] => paired(a, b, (x, y) => x - y);

/** Four significant digits, so that rounding does not hide a missed target. */
export const digits = (value: number): string => (Math.abs(value) >= 1_000 ? value.toFixed(0) : value.toPrecision(4));
