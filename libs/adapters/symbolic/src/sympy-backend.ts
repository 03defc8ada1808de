import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { FailureCode } from '@conclave/contracts';
import { Failure } from '@conclave/contracts';
import * as z from 'zod';
import { script } from './assets.js';
import type { Calculated, Backend } from './backend.js';
import { LineProcess, ProcessEnded, type LineProgram } from './process/line-process.js';
import { ProcessPool } from './process/process-pool.js';

const worker = script('sympy-worker.py');

const Answer = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    result: z.string(),
    decimal: z.string().nullish(),
    latex: z.string().nullish(),
    solutions: z.array(z.record(z.string(), z.string())).nullish(),
    caveat: z.string().nullish(),
    notes: z.array(z.string()).default([]),
  }),
  z.object({ ok: z.literal(false), code: z.enum(['MATH_INPUT_INVALID', 'MATH_LIMIT', 'MATH_UNSUPPORTED']), detail: z.string() }),
]);

export interface SympyOptions {
  /** Path of a Python in which SymPy is expected. */
  readonly python: string;
  readonly memoryMb: number;
  readonly seconds: number;
  readonly processes: number;
  readonly onReplaced: (how: string) => void;
}

/** Pythons to try if none is configured: Debian's own, for which `python3-sympy` is installed, then the one on the path. */
export async function pythons(): Promise<readonly string[]> {
  const known = ['/usr/bin/python3'];
  try {
    // Asks only for the path of the program and loads no package. Our environment is passed on, because a shim on the path may need it.
    const { stdout } = await promisify(execFile)('python3', ['-I', '-S', '-c', 'import sys; print(sys.executable)'], { timeout: 10_000 });
    const found = stdout.trim();
    return found !== '' && !known.includes(found) ? [...known, found] : known;
  } catch {
    return known; // decided: a missing python3 counts like one without SymPy
  }
}

/** SymPy in separate processes. Throws Failure MATH_UNAVAILABLE, whose detail says what is missing. */
export async function startSympy({ python, memoryMb, seconds, processes, onReplaced }: SympyOptions): Promise<Backend> {
  // -I: neither variables nor packages of the user; -B: writes nothing beside our script.
  const program: LineProgram = { file: python, args: ['-I', '-B', worker, String(memoryMb)], readyWithinMs: 30_000 };
  const { process, first } = await started(program);
  const { ready } = first;
  if (typeof ready !== 'string') {
    await process.kill();
    throw new Failure(
      'MATH_UNAVAILABLE',
      `${python} has no SymPy. Install it (Debian: apt-get install python3-sympy) or name another Python in \`math.python\`.`,
    );
  }
  const pool = new ProcessPool({ program, processes, calculationMs: seconds * 1_000, onReplaced, first: process });
  return {
    name: `sympy ${ready}`,
    async calculate(job, within): Promise<Calculated> {
      const answer = Answer.safeParse(await pool.ask({ seconds, job }, within));
      if (!answer.success) throw new Failure('MATH_UNAVAILABLE', 'The reply of its process is not readable.');
      if (!answer.data.ok) throw new Failure(answer.data.code satisfies FailureCode, answer.data.detail);
      const { result, decimal = null, latex = null, solutions = null, caveat = null, notes } = answer.data;
      return { result, decimal, latex, solutions, caveat, notes };
    },
    close: () => pool.close(),
  };
}

async function started(program: LineProgram): ReturnType<typeof LineProcess.start> {
  try {
    return await LineProcess.start(program);
  } catch (error) {
    if (error instanceof ProcessEnded)
      throw new Failure('MATH_UNAVAILABLE', `${program.file} does not start: ${error.how}.`, { cause: error });
    throw error;
  }
}
