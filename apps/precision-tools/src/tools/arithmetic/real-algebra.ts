import * as about from '../numbers/approximate.js';
import { Rational } from '../numbers/rational.js';
import { invalid } from '../refusal.js';
import { realFunctions } from './functions.js';
import type { Algebra } from './parse.js';
import * as real from './real.js';

const constants: Readonly<Record<string, () => real.Real>> = {
  pi: () => about.approximate(about.pi),
  tau: () => about.approximate(about.pi.times(2)),
  e: () => about.approximate(about.Decimal.exp(1)),
  phi: () => about.approximate(about.Decimal.sqrt(5).plus(1).div(2)),
};
const constant = new Map(Object.entries(constants));

/** Arithmetic of real numbers for `Expression`. */
export const realAlgebra: Algebra<real.Real> = {
  number: (value) => value,
  name: (name) => constant.get(name.toLowerCase() === 'pi' ? 'pi' : name)?.() ?? null,
  isFunction: (name) => realFunctions.has(name.toLowerCase()),
  call(name, args) {
    const { takes, run } = realFunctions.get(name.toLowerCase())!;
    const [least, most] = takes;
    if (args.length < least || args.length > most) {
      const count = least === most ? `${least}` : most === Infinity ? `at least ${least}` : `${least} to ${most}`;
      throw invalid(
        `${name} takes ${count} argument${count === '1' ? '' : 's'}, not ${args.length}. A comma inside a function parts its arguments.`,
      );
    }
    return run(...args);
  },
  add: real.add,
  subtract: (a, b) => real.add(a, real.negate(b)),
  multiply: real.multiply,
  divide: real.divide,
  modulo: real.modulo,
  power: real.power,
  negate: real.negate,
  factorial(value) {
    if (!(value instanceof Rational)) throw invalid('A factorial needs a whole number that is not negative.');
    return real.factorial(value);
  },
  degrees: real.fromDegrees,
};
