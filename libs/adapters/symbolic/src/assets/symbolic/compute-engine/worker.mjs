// Calculates jobs with the Compute Engine: one line of JSON in, one line of JSON out. Writes {"ready": version} first, and ends when its
// input ends.
import { createInterface } from 'node:readline';
import { ComputeEngine, version } from '@cortex-js/compute-engine';
import { checkedResult, treesIn } from './checked-result.mjs';
import { whatIsLeft } from './completeness.mjs';

/** The job is not known here, or the Compute Engine returned something that is not exact. */
class Unsupported extends Error {}

const functions = {
  sqrt: 'Sqrt',
  root: 'Root',
  exp: 'Exp',
  ln: 'Ln',
  log: 'Log',
  abs: 'Abs',
  sign: 'Sign',
  sin: 'Sin',
  cos: 'Cos',
  tan: 'Tan',
  cot: 'Cot',
  sec: 'Sec',
  csc: 'Csc',
  asin: 'Arcsin',
  acos: 'Arccos',
  atan: 'Arctan',
  atan2: 'Arctan2',
  sinh: 'Sinh',
  cosh: 'Cosh',
  tanh: 'Tanh',
  asinh: 'Arsinh',
  acosh: 'Arcosh',
  atanh: 'Artanh',
  factorial: 'Factorial',
  binomial: 'Binomial',
  gamma: 'Gamma',
  erf: 'Erf',
  floor: 'Floor',
  ceiling: 'Ceil',
  mod: 'Mod',
  gcd: 'GCD',
  lcm: 'LCM',
  max: 'Max',
  min: 'Min',
  re: 'Real',
  im: 'Imaginary',
  conjugate: 'Conjugate',
};
const constants = { pi: 'Pi', e: 'ExponentialE', i: 'ImaginaryUnit', infinity: 'PositiveInfinity' };
const inverted = (table) => new Map(Object.entries(table).map(([ours, theirs]) => [theirs, ours]));
const functionOf = inverted(functions);
const constantOf = inverted(constants);
/** Prefix of every name, which keeps it apart from names of the Compute Engine and from those of earlier questions. */
let prefix = 'v0_';

/** MathJSON of a tree. */
function toMathJson(tree) {
  switch (tree.kind) {
    case 'number':
      return toNumber(tree.value);
    case 'symbol':
      return prefix + tree.name;
    case 'constant':
      return constants[tree.name];
    case 'sum':
      return ['Add', ...tree.terms.map(toMathJson)];
    case 'product':
      return ['Multiply', ...tree.factors.map(toMathJson)];
    case 'negative':
      return ['Negate', toMathJson(tree.of)];
    case 'quotient':
      return ['Divide', toMathJson(tree.over), toMathJson(tree.under)];
    case 'power':
      return ['Power', toMathJson(tree.base), toMathJson(tree.exponent)];
    case 'call':
      if (tree.name === 'cbrt') return ['Root', toMathJson(tree.args[0]), 3];
      return [functions[tree.name], ...tree.args.map(toMathJson)];
    default:
      throw new Unsupported('A part of the expression is of an unknown kind.');
  }
}

/** Decimals are exact fractions. */
function toNumber(digits) {
  const [whole, part = ''] = digits.split('.');
  const numerator = { num: BigInt(whole + part).toString() };
  return part === '' ? numerator : ['Rational', numerator, { num: (10n ** BigInt(part.length)).toString() }];
}

/** A tree of MathJSON. Throws Unsupported for every kind that is not known here, floating point among them. */
function toTree(json) {
  if (typeof json === 'number') return integer(String(json));
  if (typeof json === 'string') return named(json);
  if (!Array.isArray(json)) {
    if (typeof json?.num === 'string') return integer(json.num);
    throw new Unsupported('The Compute Engine returned something that is not known here.');
  }
  const [head, ...args] = json;
  const trees = () => args.map(toTree);
  switch (head) {
    case 'Rational':
    case 'Divide':
      return { kind: 'quotient', over: toTree(args[0]), under: toTree(args[1]) };
    case 'Complex':
      return complex(args[0], args[1]);
    case 'Add':
      return { kind: 'sum', terms: trees() };
    case 'Subtract':
      return { kind: 'sum', terms: [toTree(args[0]), ...args.slice(1).map((arg) => ({ kind: 'negative', of: toTree(arg) }))] };
    case 'Multiply':
      return { kind: 'product', factors: trees() };
    case 'Negate':
      return { kind: 'negative', of: toTree(args[0]) };
    case 'Power':
      return { kind: 'power', base: toTree(args[0]), exponent: toTree(args[1]) };
    case 'Square':
      return { kind: 'power', base: toTree(args[0]), exponent: { kind: 'number', value: '2' } };
    case 'Delimiter':
      return toTree(args[0]);
    default: {
      const name = functionOf.get(head);
      if (!name) throw new Unsupported(`It was not solved in closed form.`);
      return { kind: 'call', name: name === 'log' && args.length === 1 ? 'log' : name, args: trees() };
    }
  }
}

function named(name) {
  if (name.startsWith(prefix)) return { kind: 'symbol', name: name.slice(prefix.length) };
  if (name === 'NegativeInfinity') return { kind: 'negative', of: { kind: 'constant', name: 'infinity' } };
  if (name === 'Half') return { kind: 'quotient', over: integer('1'), under: integer('2') };
  const constant = constantOf.get(name);
  if (!constant) throw new Unsupported('It has no value, or none in closed form.');
  return { kind: 'constant', name: constant };
}

function complex(re, im) {
  const [left, right] = [toTree(re), toTree(im)];
  const turned = { kind: 'product', factors: [right, { kind: 'constant', name: 'i' }] };
  return left.kind === 'number' && left.value === '0' ? turned : { kind: 'sum', terms: [left, turned] };
}

/** A whole number as a tree; anything with a part after the point is rounded and therefore refused. */
function integer(text) {
  const [, sign, whole, part = '', exponent = '0'] = /^([-+]?)(\d+)(?:\.(\d+))?(?:e\+?(-?\d+))?$/i.exec(text) ?? [];
  const places = Number(exponent) - part.length;
  if (whole === undefined || places < 0) throw new Unsupported('It was found only as a rounded number.');
  const number = { kind: 'number', value: BigInt(whole + part + '0'.repeat(places)).toString() };
  return sign === '-' ? { kind: 'negative', of: number } : number;
}

/** Real and imaginary part as decimals; null if there is no number. */
function decimalOf(expression) {
  const value = expression.N();
  const { json } = value;
  const digits = (part) => (typeof part === 'number' ? String(part) : typeof part?.num === 'string' ? part.num : null);
  if (Array.isArray(json)) return json[0] === 'Complex' ? { re: digits(json[1]), im: digits(json[2]) } : null;
  const re = digits(json);
  return re === null ? null : { re, im: '0' };
}

const shown = (expression) => ({ tree: toTree(expression.json), decimal: decimalOf(expression) });

function entries(expression) {
  const { json } = expression;
  if (!Array.isArray(json) || json[0] !== 'List') throw new Unsupported('It was not solved in closed form.');
  return json.slice(1);
}

function calculate(ce, job) {
  const box = (json) => ce.box(json);
  const one = (expression) => ({ values: [shown(expression)] });
  const variable = prefix + job.variable;
  const ranged = (head) =>
    one(box([head, toMathJson(job.expression), ['Limits', variable, toMathJson(job.lower), toMathJson(job.upper)]]).evaluate());
  const matrix = (rows) => ['List', ...rows.map((row) => ['List', ...row.map(toMathJson)])];
  const rowsOf = (expression) => ({ rows: entries(expression).map((row) => entries(box(row)).map((entry) => shown(box(entry)))) });
  switch (job.operation) {
    case 'evaluate': {
      const values = Object.fromEntries(job.values.map(([name, value]) => [prefix + name, box(toMathJson(value))]));
      const value = box(toMathJson(job.expression)).subs(values).evaluate();
      return one(value);
    }
    case 'simplify':
      return one(box(toMathJson(job.expression)).simplify());
    case 'expand':
      return one(box(['ExpandAll', toMathJson(job.expression)]).evaluate());
    case 'factor':
      return one(box(['Factor', toMathJson(job.expression)]).evaluate());
    case 'differentiate': {
      const steps = [];
      let derivative = box(toMathJson(job.expression));
      for (let n = 0; n < job.order; n += 1) {
        derivative = box(['D', derivative.json, variable]).evaluate();
        steps.push(toTree(derivative.json));
      }
      const value = job.point === null ? derivative : derivative.subs({ [variable]: box(toMathJson(job.point)) }).evaluate();
      return { ...one(value), steps };
    }
    case 'integrate':
      return job.lower === null ? one(box(['Integrate', toMathJson(job.expression), variable]).evaluate()) : ranged('Integrate');
    case 'limit':
      return one(box(['Limit', ['Function', toMathJson(job.expression), variable], toMathJson(job.point)]).evaluate());
    case 'sum':
      return ranged('Sum');
    case 'product':
      return ranged('Product');
    case 'determinant':
      return one(box(['Determinant', matrix(job.matrix)]).evaluate());
    case 'inverse':
      return rowsOf(box(['Inverse', matrix(job.matrix)]).evaluate());
    case 'multiply':
      return rowsOf(box(['MatrixMultiply', matrix(job.matrix), matrix(job.other)]).evaluate());
    case 'eigenvalues':
      return { values: entries(box(['Eigenvalues', matrix(job.matrix)]).evaluate()).map((value) => shown(box(value))) };
    case 'solve':
      return { solutions: solve(ce, job) };
    default:
      throw new Unsupported(`It does not know ${job.operation}.`);
  }
}

function solve(ce, { relations, variables }) {
  if (relations.length === 1 && variables.length === 1) return rootsOf(ce, relations[0], variables[0]);
  const names = variables.map((name) => prefix + name);
  const found = ce.box(['List', ...relations.map(equation)]).solve(names);
  const all = Array.isArray(found) ? found : found ? [found] : [];
  if (all.length === 0) throw new Unsupported('It was not solved in closed form.');
  return all.map((one) => Object.fromEntries(variables.map((name, n) => [name, shown(one[names[n]] ?? missing())])));
}

const equation = ({ left, right }) => ['Equal', toMathJson(left), toMathJson(right)];

/** The solutions that the Compute Engine finds, first for the relation, then for the polynomial divided by its rational solutions. */
function rootsOf(ce, relation, name) {
  const found = ce.box(equation(relation)).solve(prefix + name);
  if (!Array.isArray(found)) throw new Unsupported('It was not solved in closed form.');
  const solutions = found.map((value) => ({ [name]: shown(value) }));
  const rest = whatIsLeft(
    relation,
    name,
    solutions.map((one) => treesIn(one)),
  );
  if (rest === null) return solutions;
  const others = ce.box(equation({ left: rest, right: { kind: 'number', value: '0' } })).solve(prefix + name);
  if (!Array.isArray(others)) return solutions;
  const known = new Set(solutions.map((one) => JSON.stringify(one[name].tree)));
  const more = others.flatMap((value) => closedForm(value)).filter(({ tree }) => !known.has(JSON.stringify(tree)));
  return [...solutions, ...more.map((value) => ({ [name]: value }))];
}

/** Empty if there is no closed form, so that the other solutions are kept. */
function closedForm(value) {
  try {
    return [shown(value)];
  } catch (error) {
    if (error instanceof Unsupported) return [];
    throw error;
  }
}

function missing() {
  throw new Unsupported('Not every name has one value.');
}

const questionsPerInstance = 500;
let ce = new ComputeEngine();
let asked = 0;

function reply({ job, seconds }) {
  asked += 1;
  // An instance is reused, because a new one needs half a second to prepare its functions.
  if (asked % questionsPerInstance === 0) ce = new ComputeEngine();
  prefix = `v${asked}_`;
  ce.precision = job.precision + 10;
  ce.timeLimit = seconds * 1_000;
  ce.pushScope();
  try {
    return checkedResult(job, calculate(ce, job));
  } catch (error) {
    if (error instanceof Unsupported) return { ok: false, detail: error.message };
    // The Compute Engine throws errors of every kind for what it cannot do.
    return { ok: false, detail: `It gave up (${error?.name ?? 'without a reason'}).` };
  } finally {
    ce.popScope();
  }
}

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
say({ ready: version });
for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  say({ id: question.id, ...reply(question) });
}
