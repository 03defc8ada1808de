import process from 'node:process';
import { Failure } from '@conclave/contracts';
import { z } from 'zod';
import { script } from '../assets.js';
import type { Calculated, Engine } from '../engine.js';
import { LineProcess, ProcessEnded, type LineProgram } from '../process/line-process.js';
import { ProcessPool } from '../process/process-pool.js';
import type { Job, Rows } from '../request.js';
import { symbolsOf, type Tree } from '../syntax/tree.js';
import * as checks from './checks.js';
import type { Check } from './checks.js';
import { decimalOf } from './decimals.js';
import { notationOf } from './notation.js';
import { known as treeIsKnown } from './trees.js';

const worker = script('compute-engine-worker.mjs');

export interface ComputeEngineOptions {
  readonly memoryMb: number;
  readonly seconds: number;
  readonly processes: number;
  readonly onReplaced: (how: string) => void;
}

const Shown = z.object({
  tree: z.custom<Tree>(treeIsKnown),
  decimal: z.object({ re: z.string().nullable(), im: z.string().nullable() }).nullable(),
});
type Shown = z.infer<typeof Shown>;
const Answer = z.union([
  z.object({ ok: z.literal(false), detail: z.string() }),
  z.object({ ok: z.literal(true), values: z.array(Shown).min(1), steps: z.array(z.custom<Tree>(treeIsKnown)).optional() }),
  z.object({ ok: z.literal(true), rows: z.array(z.array(Shown).min(1)).min(1) }),
  z.object({ ok: z.literal(true), solutions: z.array(z.record(z.string(), Shown)) }),
]);
type Answer = Extract<z.infer<typeof Answer>, { ok: true }>;

const install = 'Install SymPy for Python (Debian: apt-get install python3-sympy), which can.';
const unsupported = (why: string): Failure => new Failure('MATH_UNSUPPORTED', `${why} ${install}`);

/** What the Compute Engine is not asked: it does not know it, or has been seen to give something else. */
const leftOut: ReadonlySet<Job['operation']> = new Set(['rank', 'rref', 'series']);

/**
 * The Compute Engine in processes of its own, for machines without SymPy. Each result is checked against an independent calculation; what
 * fails the check, or cannot be checked, is no result. Throws Failure MATH_UNAVAILABLE.
 */
export async function startComputeEngine({ memoryMb, seconds, processes, onReplaced }: ComputeEngineOptions): Promise<Engine> {
  const permission = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
  const program: LineProgram = {
    file: process.execPath,
    // No writing, no programs, no threads, and no text that becomes code.
    args: [
      ...['--no-warnings', permission, '--allow-fs-read=*', '--disallow-code-generation-from-strings'],
      ...[`--max-old-space-size=${memoryMb}`, worker],
    ],
    readyWithinMs: 30_000,
  };
  const { process: first, first: said } = await started(program);
  if (typeof said['ready'] !== 'string') throw new Failure('MATH_UNAVAILABLE', 'The Compute Engine does not start.');
  const name = `compute-engine ${said['ready']}`;
  const pool = new ProcessPool({ program, processes, calculationMs: seconds * 1_000, onReplaced, first });
  return {
    name,
    async calculate(job, within): Promise<Calculated> {
      refuse(job);
      const answer = Answer.safeParse(await pool.ask({ seconds, job }, within));
      if (!answer.success) throw unsupported('The Compute Engine gave something that is not readable.');
      if (!answer.data.ok) throw unsupported(answer.data.detail);
      const calculated = inNotation(job, answer.data);
      const checked = check(job, answer.data);
      if (checked !== true) throw unsupported(checked === false ? 'The result of the Compute Engine failed its check.' : 'The result of the Compute Engine could not be checked.');
      return calculated;
    },
    close: () => pool.close(),
  };
} // prettier-ignore

async function started(program: LineProgram): ReturnType<typeof LineProcess.start> {
  try {
    return await LineProcess.start(program);
  } catch (error) {
    if (error instanceof ProcessEnded) throw new Failure('MATH_UNAVAILABLE', `The Compute Engine does not start: ${error.how}.`, { cause: error });
    throw error;
  }
} // prettier-ignore

function refuse(job: Job): void {
  if (leftOut.has(job.operation)) throw unsupported(`The Compute Engine does not calculate ${job.operation}.`);
  if (job.operation === 'solve' && job.relations.some(({ relation }) => relation !== '='))
    throw unsupported('The Compute Engine does not solve inequalities.');
  if (job.operation === 'factor' && symbolsOf(job.expression).length === 0) throw unsupported('The Compute Engine does not factor numbers.');
  if (job.operation === 'multiply' && job.matrix[0]!.length !== job.other.length)
    throw new Failure('MATH_INPUT_INVALID', `A matrix with ${job.matrix[0]!.length} columns is not multiplied by one with ${job.other.length} rows.`);
} // prettier-ignore

const treesOf = (rows: readonly (readonly Shown[])[]): Rows => rows.map((row) => row.map(({ tree }) => tree));

function check(job: Job, answer: Answer): Check {
  if ('solutions' in answer) {
    if (job.operation !== 'solve') return null;
    const all = answer.solutions.map((one) => checks.solves(job.relations, Object.fromEntries(Object.entries(one).map(([name, { tree }]) => [name, tree]))));
    return all.includes(false) ? false : all.length === 0 || all.includes(null) ? null : true;
  }
  if ('rows' in answer) {
    const rows = treesOf(answer.rows);
    if (job.operation === 'multiply') return checks.isProduct(job.matrix, job.other, rows);
    return job.operation === 'inverse' ? checks.isProduct(job.matrix, rows, checks.identity(rows.length)) : null;
  }
  const result = answer.values[0]!.tree;
  switch (job.operation) {
    case 'evaluate':
      return checks.sameWith(job.expression, job.values, result);
    case 'simplify':
    case 'expand':
    case 'factor':
      return checks.sameValue(job.expression, result);
    case 'differentiate': {
      const steps = [job.expression, ...(answer.steps ?? [])];
      if (steps.length !== job.order + 1) return null;
      const slopes = steps.slice(1).map((slope, n) => checks.isDerivative(steps[n]!, slope, job.variable));
      const last = job.point === null ? checks.sameValue(steps.at(-1)!, result) : checks.sameWith(steps.at(-1)!, [[job.variable, job.point]], result);
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
      return checks.areEigenvalues(job.matrix, answer.values.map(({ tree }) => tree));
    default:
      return null;
  }
} // prettier-ignore

function inNotation(job: Job, answer: Answer): Calculated {
  const decimal = ({ tree, decimal: parts }: Shown): string | null =>
    symbolsOf(tree).length > 0 ? null : decimalOf(tree, parts, job.precision);
  const plain = { latex: null, solutions: null, notes: job.operation === 'integrate' && !job.lower ? ['A constant may be added.'] : [] };
  if ('rows' in answer || job.operation === 'eigenvalues') {
    const rows = 'rows' in answer ? answer.rows : 'values' in answer ? [answer.values] : [];
    const decimals = rows.map((row) => row.map(decimal));
    const listed = (all: readonly (readonly string[])[]): string => {
      const lines = all.map((row) => `[${row.join(', ')}]`);
      return 'rows' in answer ? `[${lines.join(', ')}]` : lines[0]!;
    };
    const complete = decimals.every((row): row is string[] => row.every((one) => one !== null));
    return { ...plain, result: listed(treesOf(rows).map((row) => row.map(notationOf))), decimal: complete ? listed(decimals as string[][]) : null };
  }
  if ('solutions' in answer) {
    const exact = answer.solutions.map((one) => Object.fromEntries(Object.entries(one).map(([name, { tree }]) => [name, notationOf(tree)])));
    const decimals = answer.solutions.map((one) => Object.entries(one).map(([name, shown]) => [name, decimal(shown)] as const));
    const joined = (all: readonly (readonly (readonly [string, unknown])[])[]): string =>
      all.map((one) => one.map(([name, value]) => `${name} = ${String(value)}`).join(', ')).join(' or ');
    const complete = decimals.every((one) => one.every(([, value]) => value !== null));
    return {
      ...plain,
      result: joined(exact.map((one) => Object.entries(one))),
      decimal: complete ? joined(decimals) : null,
      solutions: exact,
      notes: ['Each solution was checked; whether there are others was not.'],
    };
  }
  const [value] = answer.values;
  return { ...plain, result: notationOf(value!.tree), decimal: decimal(value!) };
} // prettier-ignore
