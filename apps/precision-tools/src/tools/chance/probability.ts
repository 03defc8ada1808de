import * as z from 'zod';
import { fractionText, roundedDecimal } from '../numbers/decimal-text.js';
import { numberArgument, readNumber } from '../numbers/read-number.js';
import { longestDigits, Rational } from '../numbers/rational.js';
import { invalid, tooLarge } from '../refusal.js';
import { defineTool } from '../tool.js';

const operations = ['combinations', 'permutations', 'binomial', 'hypergeometric', 'dice_sum', 'at_least_one', 'bayes'] as const;
const comparisons = ['exactly', 'at_least', 'at_most'] as const;
type Comparison = (typeof comparisons)[number];

const largestN = 2_000;

export function choose(n: number, k: number): bigint {
  if (k < 0 || k > n) return 0n;
  const few = BigInt(Math.min(k, n - k));
  let result = 1n;
  for (let i = 1n; i <= few; i += 1n) result = (result * (BigInt(n) - few + i)) / i;
  return result;
}

function arrangements(n: number, k: number): bigint {
  let result = 1n;
  for (let i = 0; i < k; i += 1) result *= BigInt(n - i);
  return result;
}

/** Whole counts that satisfy the comparison, between the smallest and the largest possible one. */
function counted(comparison: Comparison, k: number, least: number, most: number): number[] {
  const [from, to] = comparison === 'exactly' ? [k, k] : comparison === 'at_least' ? [k, most] : [least, k];
  const first = Math.max(from, least);
  return Array.from({ length: Math.max(0, Math.min(to, most) - first + 1) }, (_, i) => first + i);
}

/** Over the common denominator of all terms: p = a/b, so every term is a whole number over b^n, and follows from the one before. */
function binomial(n: number, p: Rational, ks: readonly number[]): Rational {
  const digits = n * (p.denominator.toString().length - 1);
  if (digits > longestDigits)
    throw tooLarge(`The exact result would have ${digits.toLocaleString('en')} digits: take a smaller n or fewer decimal places of p.`);
  const [yes, no] = [p.numerator, p.denominator - p.numerator];
  const [first = 0] = ks;
  let term = choose(n, first) * yes ** BigInt(first) * no ** BigInt(Math.max(0, n - first));
  let sum = 0n;
  for (const k of ks) {
    if (k > first) term = no === 0n ? (k === n ? yes ** BigInt(n) : 0n) : (term * BigInt(n - k + 1) * yes) / (BigInt(k) * no);
    sum += term;
  }
  return Rational.of(ks.length === 0 ? 0n : sum, p.denominator ** BigInt(n));
}

function hypergeometric(population: number, successes: number, draws: number, ks: readonly number[]): Rational {
  const sum = ks.reduce((total, k) => total + choose(successes, k) * choose(population - successes, draws - k), 0n);
  return Rational.of(sum, choose(population, draws));
}

/** Ways to throw each sum, die by die. */
function diceSum(dice: number, sides: number, fits: (sum: number) => boolean): Rational {
  let ways = [1n];
  for (let die = 0; die < dice; die += 1) {
    const next = Array.from({ length: ways.length + sides }, () => 0n);
    ways.forEach((count, sum) => {
      for (let face = 1; face <= sides; face += 1) next[sum + face]! += count;
    });
    ways = next;
  }
  const sum = ways.reduce((total, count, value) => (fits(value) ? total + count : total), 0n);
  return Rational.of(sum, BigInt(sides) ** BigInt(dice));
}

const whole = (meaning: string, most = largestN) => z.int().min(0).max(most).optional().describe(meaning);

export const probability = defineTool({
  name: 'probability',
  title: 'Exact probability',
  description:
    'Exact probabilities as fraction and decimal: binomial, hypergeometric (drawing without replacement), sums of dice, at least one success, Bayes; and combinations and permutations. Use it for every question of chance.',
  input: {
    operation: z.enum(operations),
    n: whole('trials, or items to choose from'),
    k: whole('successes, or items chosen; the sum for dice_sum', 10_000),
    comparison: z.enum(comparisons).default('exactly').describe('for binomial, hypergeometric and dice_sum'),
    p: numberArgument('chance of one trial, such as 0.3, "1/6" or "30%"; for bayes P(evidence | hypothesis)').optional(),
    population: whole('hypergeometric: items in all'),
    successes: whole('hypergeometric: items that count'),
    draws: whole('hypergeometric: items drawn'),
    dice: whole('number of dice', 50),
    sides: whole('sides of each die', 100),
    prior: numberArgument('bayes: P(hypothesis)').optional(),
    p_if_not: numberArgument('bayes: P(evidence | not hypothesis)').optional(),
  },
  output: {
    result: z.string().describe('exact whole number or fraction'),
    decimal: z.string().describe('to 30 significant digits'),
    percent: z.string().optional(),
    formula: z.string(),
  },
  run(args) {
    const { operation, comparison } = args;
    const needed = <Name extends keyof typeof args>(name: Name): NonNullable<(typeof args)[Name]> => {
      const value = args[name];
      if (value === undefined || value === null) throw invalid(`${operation} needs "${name}".`);
      return value;
    };
    const chance = (name: 'p' | 'prior' | 'p_if_not'): Rational => {
      const value = readNumber(needed(name), name);
      if (value.sign < 0 || value.compare(Rational.one) > 0) throw invalid(`${name} must lie between 0 and 1.`);
      // The exact result has as many digits as the denominator to the n-th power.
      if (value.denominator > 10n ** 12n) throw invalid(`${name} may have 12 decimal places.`);
      return value;
    };
    const relation = { exactly: '=', at_least: '>=', at_most: '<=' }[comparison];
    const answer = (value: Rational, formula: string) => ({
      result: fractionText(value),
      decimal: roundedDecimal(value),
      percent: `${roundedDecimal(value.multiply(Rational.of(100)), 12)}%`,
      formula,
    });
    switch (operation) {
      case 'combinations':
      case 'permutations': {
        const [n, k] = [needed('n'), needed('k')];
        const value = Rational.of(k > n ? 0n : operation === 'combinations' ? choose(n, k) : arrangements(n, k));
        const formula = operation === 'combinations' ? `${n}! / (${k}! * (${n} - ${k})!)` : `${n}! / (${n} - ${k})!`;
        return { result: fractionText(value), decimal: roundedDecimal(value), formula };
      }
      case 'binomial': {
        const [n, k] = [needed('n'), needed('k')];
        return answer(
          binomial(n, chance('p'), counted(comparison, k, 0, n)),
          `P(X ${relation} ${k}), X binomial with n = ${n}, p = ${fractionText(chance('p'))}`,
        );
      }
      case 'hypergeometric': {
        const [population, successes, draws, k] = [needed('population'), needed('successes'), needed('draws'), needed('k')];
        if (successes > population || draws > population) throw invalid('successes and draws cannot exceed population.');
        const [least, most] = [Math.max(0, draws - (population - successes)), Math.min(draws, successes)];
        const value = hypergeometric(population, successes, draws, counted(comparison, k, least, most));
        return answer(value, `P(X ${relation} ${k}) drawing ${draws} of ${population}, of which ${successes} count`);
      }
      case 'dice_sum': {
        const [dice, sides, k] = [needed('dice'), needed('sides'), needed('k')];
        if (dice < 1 || sides < 1) throw invalid('dice and sides must be 1 or more.');
        const fits = { exactly: (sum: number) => sum === k, at_least: (sum: number) => sum >= k, at_most: (sum: number) => sum <= k }[
          comparison
        ];
        return answer(diceSum(dice, sides, fits), `P(sum ${relation} ${k}) of ${dice} dice with ${sides} sides`);
      }
      case 'at_least_one': {
        const n = needed('n');
        return answer(Rational.one.subtract(Rational.one.subtract(chance('p')).power(BigInt(n))), '1 - (1 - p)^n');
      }
      case 'bayes': {
        const [prior, p, otherwise] = [chance('prior'), chance('p'), chance('p_if_not')];
        const yes = prior.multiply(p);
        const evidence = yes.add(Rational.one.subtract(prior).multiply(otherwise));
        if (evidence.sign === 0) throw invalid('The evidence has probability 0 under both hypotheses.');
        return answer(yes.divide(evidence), 'prior * p / (prior * p + (1 - prior) * p_if_not)');
      }
    }
  },
});
