import * as z from 'zod';
import { approximateText } from '../numbers/approximate.js';
import { exactText, roundedDecimal } from '../numbers/decimal-text.js';
import { Rational } from '../numbers/rational.js';
import { defineTool } from '../tool.js';
import { Expression } from './parse.js';
import { realAlgebra } from './real-algebra.js';

export const calculate = defineTool({
  name: 'calculate',
  title: 'Calculator',
  description:
    'Exact arithmetic: use it for every calculation instead of reckoning yourself. Takes + - * / ^ %, n!, parentheses, "17.5% of 2,340", sqrt, cbrt, root, abs, floor, ceil, round(x, places), min, max, sum, mean, gcd, lcm, mod, ncr, npr, exp, ln, log(x, base), log10, log2, sin, cos, tan (radians; 30° for degrees), asin, acos, atan, pi, e.',
  input: { expression: z.string().describe('for example "(0.1 + 0.2) * 3", "2^100", "17.5% of 2,340", "sqrt(2) / 3", "sin(30°)"') },
  output: {
    result: z
      .string()
      .describe('exact decimal, or an exact fraction such as 1/3 when the decimals have no end, or 30 digits of an irrational number'),
    decimal: z.string().describe('the result to 30 significant digits'),
    exact: z.boolean().describe('false when the result is irrational and rounded to the digits shown'),
    interpreted: z.string().describe('how the expression was read'),
  },
  run({ expression: source }) {
    const expression = new Expression(source, realAlgebra);
    const value = expression.evaluate();
    const interpreted = expression.reading;
    if (value instanceof Rational) return { result: exactText(value), decimal: roundedDecimal(value), exact: true, interpreted };
    const result = approximateText(value);
    return { result, decimal: result, exact: false, interpreted };
  },
});
