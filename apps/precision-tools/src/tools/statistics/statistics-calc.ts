import * as z from 'zod';
import * as about from '../numbers/approximate.js';
import { exactText, roundedDecimal } from '../numbers/decimal-text.js';
import { readNumber } from '../numbers/read-number.js';
import { exactRoot, Rational } from '../numbers/rational.js';
import { invalid, quoted } from '../refusal.js';
import { defineTool } from '../tool.js';

const mostValues = 10_000;

const total = (values: readonly Rational[]): Rational => values.reduce((sum, value) => sum.add(value), Rational.zero);
const mean = (values: readonly Rational[]): Rational => total(values).divide(Rational.of(values.length));

function squares(values: readonly Rational[]): Rational {
  const centre = mean(values);
  return total(values.map((value) => value.subtract(centre).power(2n)));
}

/** Linear interpolation between the closest ranks, at (n - 1) * p (Hyndman and Fan, type 7). */
function quantile(sorted: readonly Rational[], p: Rational): Rational {
  const place = p.multiply(Rational.of(sorted.length - 1));
  const below = Number(place.floor());
  const [low, high] = [sorted[below]!, sorted[Math.min(below + 1, sorted.length - 1)]!];
  return low.add(high.subtract(low).multiply(place.subtract(Rational.of(below))));
}

function needs(values: readonly Rational[], least: number, name: string): void {
  if (values.length < least) throw invalid(`${name} needs at least ${least} values.`);
}

const squareRoot = (value: Rational): Rational | about.Approximate =>
  exactRoot(value, 2n) ?? about.approximate(about.fromRational(value).value.sqrt());

function modes(sorted: readonly Rational[]): Rational[] {
  const counts = new Map<string, { value: Rational; count: number }>();
  for (const value of sorted) {
    const key = `${value.numerator}/${value.denominator}`;
    const entry = counts.get(key) ?? { value, count: 0 };
    counts.set(key, { value, count: entry.count + 1 });
  }
  const most = Math.max(...[...counts.values()].map(({ count }) => count));
  return most === 1 && sorted.length > 1 ? [] : [...counts.values()].filter(({ count }) => count === most).map(({ value }) => value);
}

type Measure = (sorted: readonly Rational[]) => Rational | about.Approximate | Rational[];

const half = Rational.of(1, 2);
const measures: Readonly<Record<string, Measure>> = {
  count: (sorted) => Rational.of(sorted.length),
  sum: total,
  mean,
  median: (sorted) => quantile(sorted, half),
  mode: modes,
  min: (sorted) => sorted[0]!,
  max: (sorted) => sorted.at(-1)!,
  range: (sorted) => sorted.at(-1)!.subtract(sorted[0]!),
  variance(sorted) {
    needs(sorted, 2, 'variance');
    return squares(sorted).divide(Rational.of(sorted.length - 1));
  },
  population_variance: (sorted) => squares(sorted).divide(Rational.of(sorted.length)),
  stdev(sorted) {
    needs(sorted, 2, 'stdev');
    return squareRoot(squares(sorted).divide(Rational.of(sorted.length - 1)));
  },
  population_stdev: (sorted) => squareRoot(squares(sorted).divide(Rational.of(sorted.length))),
  q1: (sorted) => quantile(sorted, Rational.of(1, 4)),
  q3: (sorted) => quantile(sorted, Rational.of(3, 4)),
  iqr: (sorted) => quantile(sorted, Rational.of(3, 4)).subtract(quantile(sorted, Rational.of(1, 4))),
  harmonic_mean(sorted) {
    if (sorted[0]!.sign <= 0) throw invalid('The harmonic mean needs values above zero.');
    return Rational.of(sorted.length).divide(total(sorted.map((value) => Rational.one.divide(value))));
  },
  geometric_mean(sorted) {
    if (sorted[0]!.sign <= 0) throw invalid('The geometric mean needs values above zero.');
    const product = sorted.reduce((result, value) => result.multiply(value), Rational.one);
    const exact = sorted.length <= 1_000 ? exactRoot(product, BigInt(sorted.length)) : null;
    return exact ?? about.approximate(about.fromRational(product).value.pow(new about.Decimal(1).div(sorted.length)));
  },
};
const everything = Object.keys(measures).filter((name) => name !== 'harmonic_mean' && name !== 'geometric_mean');

const spellings: Readonly<Record<string, string>> = {
  average: 'mean',
  avg: 'mean',
  std: 'stdev',
  stddev: 'stdev',
  sample_stdev: 'stdev',
  pstdev: 'population_stdev',
  var: 'variance',
  sample_variance: 'variance',
  pvariance: 'population_variance',
  n: 'count',
  total: 'sum',
  minimum: 'min',
  maximum: 'max',
};

function measureOf(name: string): { name: string; measure: Measure } {
  const key = name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  const usual = Object.hasOwn(spellings, key) ? spellings[key]! : key;
  if (Object.hasOwn(measures, usual)) return { name: usual, measure: measures[usual]! };
  const percentile = /^p(?:ercentile_?)?(\d{1,2}(?:\.\d+)?|100)$/.exec(usual);
  if (percentile) {
    const share = readNumber(percentile[1]!, 'percentile').divide(Rational.of(100));
    return { name: usual, measure: (sorted) => quantile(sorted, share) };
  }
  throw invalid(`${quoted(name)} is not an operation: use ${Object.keys(measures).join(', ')} or a percentile such as p90.`);
}

/** Commas separate values; something that looks like a decimal or thousands comma would be split silently. */
function checkSeparators(data: string): void {
  if (data.includes(';') && data.includes(','))
    throw invalid('data has commas and semicolons: write decimal points, and part the values by one of the two.');
  if (/\d,0\d\d(?!\d)/.test(data)) throw invalid('data seems to have thousands separators: write 1000 instead of 1,000.');
}

function readData(data: string | readonly (number | string)[]): Rational[] {
  if (typeof data === 'string') checkSeparators(data);
  const items = typeof data === 'string' ? data.split(/[\s;]+|,/).filter((item) => item !== '') : data;
  if (items.length === 0) throw invalid('data is empty: give numbers such as "1, 2.5, 4".');
  if (items.length > mostValues) throw invalid(`data has ${items.length} values; at most ${mostValues.toLocaleString('en')}.`);
  return items.map((item, i) => readNumber(item, `data[${i}]`));
}

export const statisticsCalc = defineTool({
  name: 'statistics_calc',
  title: 'Statistics',
  description:
    'Exact mean, median, mode, variance, standard deviation (sample and population), quartiles and percentiles of a list of numbers. Use it for every average of data.',
  input: {
    data: z
      .union([z.string(), z.array(z.union([z.number(), z.string()]))])
      .describe('numbers parted by comma, semicolon or space (no thousands separators), or a list'),
    operations: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .describe(
        `any of ${Object.keys(measures).join(', ')} or percentiles such as p90; all but the harmonic and geometric mean when absent`,
      ),
  },
  output: {
    count: z.int(),
    results: z.array(
      z.strictObject({
        operation: z.string(),
        result: z.string().describe('exact decimal or fraction; modes parted by comma, "none" when each value occurs once'),
        decimal: z.string().describe('to 30 significant digits'),
        exact: z.boolean(),
      }),
    ),
    method: z.string(),
  },
  limits: { argumentChars: 200_000 },
  run({ data, operations }) {
    const sorted = readData(data).sort((a, b) => a.compare(b));
    const asked = typeof operations === 'string' ? operations.split(/[,;\s]+/).filter(Boolean) : operations;
    const names =
      asked && asked.length > 0 && asked.join() !== 'all'
        ? asked
        : everything.filter((name) => sorted.length > 1 || !/^(variance|stdev)$/.test(name));
    if (names.length > 50) throw invalid('At most 50 operations.');
    const results = names.map(measureOf).map(({ name, measure }) => {
      const value = measure(sorted);
      if (Array.isArray(value)) {
        const texts = [value.map(exactText), value.map((mode) => roundedDecimal(mode))].map((list) => list.join(', ') || 'none');
        return { operation: name, result: texts[0]!, decimal: texts[1]!, exact: true };
      }
      if (value instanceof Rational) return { operation: name, result: exactText(value), decimal: roundedDecimal(value), exact: true };
      const decimal = about.approximateText(value);
      return { operation: name, result: decimal, decimal, exact: false };
    });
    return {
      count: sorted.length,
      results,
      method: 'variance and stdev divide by n - 1; percentiles interpolate linearly at (n - 1) * p',
    };
  },
});
