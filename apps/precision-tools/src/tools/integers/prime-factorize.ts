import * as z from 'zod';
import { integerArgument, readInteger } from '../numbers/read-number.js';
import { Refusal, invalid, tooLarge } from '../refusal.js';
import { defineTool } from '../tool.js';
import { factorise } from './primes.js';

const longest = 100;
/** Less than half a second of Pollard's rho at any size; factors of up to 11 digits are found. */
const stepsFor = (n: bigint): number => Math.floor(70_000_000 / Math.max(100, n.toString(2).length));

export const primeFactorize = defineTool({
  name: 'prime_factorize',
  title: 'Prime factors',
  description: 'Prime factors of a whole number, whether it is prime, and its number of divisors. Use it instead of factoring by hand.',
  input: { n: integerArgument('2 or more, up to 100 digits') },
  output: {
    n: z.string(),
    is_prime: z.boolean(),
    certain: z.boolean().describe('false when a factor above 3.3 * 10^24 is a probable prime only'),
    factors: z.array(z.strictObject({ prime: z.string(), exponent: z.int().positive() })),
    factorization: z.string().describe('such as 2^3 * 5'),
    divisors: z.string().describe('how many whole numbers divide n'),
  },
  run({ n: written }) {
    const n = readInteger(written, 'n');
    if (n < 2n) throw invalid('n must be 2 or more.');
    if (n.toString().length > longest) throw tooLarge(`n may have ${longest} digits.`);
    const { factors, unsplit } = factorise(n, { left: stepsFor(n) });
    if (unsplit.length > 0) {
      const known = factors.map(({ prime, exponent }) => (exponent > 1 ? `${prime}^${exponent}` : `${prime}`));
      const rest = unsplit.join(' and ');
      throw new Refusal(
        'LIMIT_EXCEEDED',
        `Not factored within the limit: ${known.length > 0 ? `${known.join(' * ')} divides n, and ` : ''}${rest} is composite but has no small factor. n is not prime.`,
      );
    }
    return {
      n: n.toString(),
      is_prime: factors.length === 1 && factors[0]!.exponent === 1,
      certain: factors.every(({ primality }) => primality === 'prime'),
      factors: factors.map(({ prime, exponent }) => ({ prime: prime.toString(), exponent })),
      factorization: factors.map(({ prime, exponent }) => (exponent > 1 ? `${prime}^${exponent}` : `${prime}`)).join(' * '),
      divisors: factors.reduce((product, { exponent }) => product * BigInt(exponent + 1), 1n).toString(),
    };
  },
});
