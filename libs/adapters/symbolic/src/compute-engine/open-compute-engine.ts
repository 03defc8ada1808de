import process from 'node:process';
import { Failure } from '@conclave/contracts';
import * as z from 'zod';
import { script } from '../assets.js';
import type { Calculated, Backend } from '../backend.js';
import { LineProcess, ProcessEnded, type LineProgram } from '../process/line-process.js';
import { ProcessPool } from '../process/process-pool.js';
import type { SymbolicJob } from '../request.js';
import { symbolsOf } from '../syntax/tree.js';

const worker = script('compute-engine/worker.mjs');

export interface ComputeEngineOptions {
  readonly memoryMb: number;
  readonly seconds: number;
  readonly processes: number;
  readonly onReplaced: (how: string) => void;
}

/** The reply of the process to a job: checked and formatted there, so that nothing a client sends is calculated here. */
const Answer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(false), detail: z.string() }),
  z.object({
    ok: z.literal(true),
    result: z.string(),
    decimal: z.string().nullable(),
    solutions: z.array(z.record(z.string(), z.string())).nullable(),
    caveat: z.string().nullable(),
    notes: z.array(z.string()),
  }),
]);

const install = 'Install SymPy for Python (Debian: apt-get install python3-sympy), which can.';
const unsupported = (why: string): Failure => new Failure('MATH_UNSUPPORTED', `${why} ${install}`);

/** Operations that the Compute Engine does not get, because it cannot do them or has returned wrong results. */
const leftOut: ReadonlySet<SymbolicJob['operation']> = new Set(['rank', 'rref', 'series']);

/**
 * The Compute Engine in separate processes, for machines without SymPy. Each result is checked there against an independent calculation;
 * a result that fails the check, or cannot be checked, is dropped. Throws Failure MATH_UNAVAILABLE.
 */
export async function startComputeEngine({ memoryMb, seconds, processes, onReplaced }: ComputeEngineOptions): Promise<Backend> {
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
      if (!answer.success) throw unsupported('The reply of the Compute Engine is not readable.');
      if (!answer.data.ok) throw unsupported(answer.data.detail);
      const { ok: _, ...calculated } = answer.data;
      return { ...calculated, latex: null };
    },
    close: () => pool.close(),
  };
}

async function started(program: LineProgram): ReturnType<typeof LineProcess.start> {
  try {
    return await LineProcess.start(program);
  } catch (error) {
    if (error instanceof ProcessEnded)
      throw new Failure('MATH_UNAVAILABLE', `The Compute Engine does not start: ${error.how}.`, { cause: error });
    throw error;
  }
}

function refuse(job: SymbolicJob): void {
  if (leftOut.has(job.operation)) throw unsupported(`The Compute Engine does not calculate ${job.operation}.`);
  if (job.operation === 'solve' && job.relations.some(({ relation }) => relation !== '='))
    throw unsupported('The Compute Engine does not solve inequalities.');
  if (job.operation === 'factor' && symbolsOf(job.expression).length === 0)
    throw unsupported('The Compute Engine does not factor numbers.');
  if (job.operation === 'multiply' && job.matrix[0]!.length !== job.other.length)
    throw new Failure(
      'MATH_INPUT_INVALID',
      `A matrix with ${job.matrix[0]!.length} columns cannot be multiplied by one with ${job.other.length} rows.`,
    );
}
