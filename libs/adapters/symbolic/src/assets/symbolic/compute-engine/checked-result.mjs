// Prepares a result for the reply: only what an independent calculation confirms, in a notation that the parser can read again.
import * as checks from './checks.mjs';
import { areAll } from './completeness.mjs';
import { decimalOf } from './decimals.mjs';
import { notationOf } from './notation.mjs';
import { symbolsOf } from './trees.mjs';
import { valueAt } from './value.mjs';

/** The trees of one solution, by name. */
export const treesIn = (solution) => Object.fromEntries(Object.entries(solution).map(([name, { tree }]) => [name, tree]));

/** `{ ok: true, result, decimal, solutions, caveat, notes }`, or `{ ok: false, detail }` if the result cannot be relied on. */
export function checkedResult(job, answer) {
  const checked = check(job, answer);
  if (checked === false) return { ok: false, detail: 'The result of the Compute Engine failed its check.' };
  if (checked === null) return { ok: false, detail: 'The result of the Compute Engine could not be checked.' };
  const told = inNotation(job, answer);
  return told
    ? { ok: true, solutions: null, caveat: null, notes: [], ...told }
    : { ok: false, detail: 'No real solution was found; there may be some.' };
}

const treesOf = (rows) => rows.map((row) => row.map(({ tree }) => tree));

/** Whether the answer is right; null if that cannot be determined. */
function check(job, answer) {
  if (job.operation === 'solve') {
    const all = answer.solutions.map((one) => checks.solves(job.relations, treesIn(one)));
    if (all.includes(false)) return false;
    return all.includes(null) || (all.length === 0 && !areAll(job, [])) ? null : true;
  }
  if ('rows' in answer) {
    const rows = treesOf(answer.rows);
    if (job.operation === 'multiply') return checks.isProduct(job.matrix, job.other, rows);
    return job.operation === 'inverse' ? checks.isProduct(job.matrix, rows, checks.identity(rows.length)) : null;
  }
  const result = answer.values[0].tree;
  switch (job.operation) {
    case 'evaluate':
      return checks.sameWith(job.expression, job.values, result);
    case 'simplify':
    case 'expand':
    case 'factor':
      return checks.sameValue(job.expression, result);
    case 'differentiate': {
      const steps = [job.expression, ...answer.steps];
      const slopes = answer.steps.map((slope, n) => checks.isDerivative(steps[n], slope, job.variable));
      const last =
        job.point === null ? checks.sameValue(steps.at(-1), result) : checks.sameWith(steps.at(-1), [[job.variable, job.point]], result);
      return slopes.every((one) => one === true) ? last : slopes.includes(false) ? false : null;
    }
    case 'integrate':
      return job.lower && job.upper
        ? checks.isIntegral(job.expression, job.variable, [job.lower, job.upper], result)
        : checks.isDerivative(result, job.expression, job.variable);
    case 'limit':
      return checks.isLimit(job, result);
    case 'sum':
    case 'product':
      return checks.isRange(job, result);
    case 'determinant':
      return checks.isDeterminant(job.matrix, result);
    case 'eigenvalues':
      return checks.areEigenvalues(
        job.matrix,
        answer.values.map(({ tree }) => tree),
      );
    default:
      return null;
  }
}

/** The answer as text; null if no real solution was found but there may be some. */
function inNotation(job, answer) {
  const decimal = ({ tree, decimal: parts }) => (symbolsOf(tree).length > 0 ? null : decimalOf(tree, parts, job.precision));
  if (job.operation === 'solve') return solved(job, answer.solutions, decimal);
  if ('rows' in answer || job.operation === 'eigenvalues') {
    const rows = answer.rows ?? [answer.values];
    const decimals = rows.map((row) => row.map(decimal));
    const listed = (all) => {
      const lines = all.map((row) => `[${row.join(', ')}]`);
      return 'rows' in answer ? `[${lines.join(', ')}]` : lines[0];
    };
    return {
      result: listed(treesOf(rows).map((row) => row.map(notationOf))),
      decimal: decimals.flat().includes(null) ? null : listed(decimals),
    };
  }
  const [value] = answer.values;
  return {
    result: notationOf(value.tree),
    decimal: decimal(value),
    notes: job.operation === 'integrate' && !job.lower ? ['A constant may be added.'] : [],
  };
}

const mayBeMore = 'These solutions were checked; there may be others.';

function solved(job, found, decimal) {
  const isWhole = areAll(job, found.map(treesIn));
  const kept = job.domain === 'real' ? found.filter((one) => Object.values(one).every(({ tree }) => isReal(tree))) : found;
  if (kept.length === 0 && !isWhole) return null;
  const solutions = kept.map((one) => Object.fromEntries(Object.entries(one).map(([name, { tree }]) => [name, notationOf(tree)])));
  const decimals = kept.map((one) => Object.entries(one).map(([name, shown]) => [name, decimal(shown)]));
  const joined = (all) => all.map((one) => one.map(([name, value]) => `${name} = ${value}`).join(', ')).join(' or ');
  const isNumber = decimals.length > 0 && decimals.flat().every(([, value]) => value !== null);
  return {
    result: kept.length > 0 ? joined(solutions.map((one) => Object.entries(one))) : 'no solution',
    decimal: isNumber ? joined(decimals) : null,
    solutions,
    caveat: isWhole ? null : mayBeMore,
  };
}

/** Whether a value is real, by floating point. A tree without a value here counts as real, and so do names. */
const isReal = (tree) => {
  const { re, im } = valueAt(tree);
  return Number.isNaN(im) || Math.abs(im) <= 1e-12 * Math.max(1, Math.abs(re));
};
