import * as z from 'zod';
import { gcdOf } from '../numbers/rational.js';
import { integerArgument, readInteger } from '../numbers/read-number.js';
import { defineTool } from '../tool.js';

export const gcdLcm = defineTool({
  name: 'gcd_lcm',
  title: 'Greatest common divisor and least common multiple',
  description:
    'Greatest common divisor and least common multiple of two whole numbers of any size. For more numbers use calculate with gcd(…) or lcm(…).',
  input: {
    a: integerArgument('first number'),
    b: integerArgument('second number'),
    operation: z.enum(['gcd', 'lcm', 'both']).default('both'),
  },
  output: { gcd: z.string().optional(), lcm: z.string().optional(), coprime: z.boolean() },
  run({ a, b, operation }) {
    const [x, y] = [readInteger(a, 'a'), readInteger(b, 'b')];
    const gcd = gcdOf(x, y);
    const product = x * y;
    const lcm = gcd === 0n ? 0n : (product < 0n ? -product : product) / gcd;
    return {
      ...(operation !== 'lcm' && { gcd: gcd.toString() }),
      ...(operation !== 'gcd' && { lcm: lcm.toString() }),
      coprime: gcd === 1n,
    };
  },
});
