import { Failure } from '@conclave/contracts';
import { valueAt } from '../assets/symbolic/compute-engine/value.mjs';
import { partsOf, type Tree } from './tree.js';
import { unreadable } from './unreadable.js';

/** Digits of the longest number that is calculated. */
const mostDigits = 20_000;
const largestFactorial = 5_500;

const tooLarge = (digits: number): Failure =>
  new Failure(
    'MATH_LIMIT',
    `A number in it has ${digits < 1e15 ? `about ${Number(digits.toPrecision(3)).toLocaleString('en')}` : 'more than 10^15'} digits; at most ${mostDigits} are calculated.`,
  );

/** Refuses numbers that are too long, and divisions by zero, before any engine begins. Throws MATH_LIMIT, MATH_INPUT_INVALID. */
export function checkSizes(tree: Tree): void {
  // The remainder of a power is calculated without the power.
  const [power] = tree.kind === 'call' && tree.name === 'mod' ? tree.args : [];
  (power?.kind === 'power' ? [power.base, power.exponent] : partsOf(tree)).forEach(checkSizes);
  if (tree.kind === 'quotient' && isZero(tree.under)) throw unreadable('It divides by zero.');
  if (tree.kind === 'power') checkPower(tree.base, tree.exponent);
  if (tree.kind !== 'call') return;
  const [first, second] = tree.args;
  if ((tree.name === 'ln' || tree.name === 'log') && isZero(first!)) throw unreadable('The logarithm of 0 has no value.');
  if (tree.name === 'mod' && isZero(second!)) throw unreadable('It divides by zero.');
  const { re } = valueAt(first!);
  if ((tree.name === 'factorial' || tree.name === 'gamma') && re > largestFactorial)
    throw new Failure('MATH_LIMIT', `Factorials are calculated up to ${largestFactorial}!.`);
  if (tree.name === 'binomial') {
    const k = valueAt(second!).re;
    const digits = Math.min(Math.abs(k), Math.abs(re - k)) * Math.log10(Math.abs(re) + 2);
    if (digits > mostDigits) throw tooLarge(digits);
  }
}

const isZero = (tree: Tree): boolean => {
  const { re, im } = valueAt(tree);
  return re === 0 && im === 0;
};

/** Checks a power whose base and exponent have values here. Powers of e, pi and i may have any exponent. */
function checkPower(base: Tree, exponent: Tree): void {
  const by = valueAt(exponent);
  if (isZero(base) && by.re <= 0) throw unreadable(by.re === 0 ? '0^0 has no value.' : 'It divides by zero.');
  if (base.kind === 'constant') return;
  const from = valueAt(base);
  const digits = Math.abs(by.re * Math.log10(Math.hypot(from.re, from.im)));
  if (digits > mostDigits) throw tooLarge(digits);
}
