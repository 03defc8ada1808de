import { Failure } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import type { Symbolic } from '@conclave/ports';
import { startComputeEngine } from './compute-engine/open-compute-engine.js';
import type { Backend } from './backend.js';
import { readRequest } from './request.js';
import { pythons, startSympy } from './sympy-backend.js';

export interface SymbolicOptions {
  /** A Python that has SymPy. If absent, or without SymPy: the Python of the machine if it has SymPy, else the Compute Engine. */
  readonly python?: string;
  /** Memory of each calculating process, megabytes. */
  readonly memoryMb: number;
  /** Bound of one calculation, seconds. */
  readonly seconds: number;
  readonly logger: Logger;
  /** Processes that calculate at the same time. */
  readonly processes?: number;
  /** Where to look for Python if none is configured; the usual places by default. */
  readonly candidates?: readonly string[];
  /** `compute-engine` leaves Python out. */
  readonly prefer?: 'sympy' | 'compute-engine';
}

/** Exact mathematics in separate processes. Nothing is started before the first question. */
export function openSymbolic({
  python,
  memoryMb,
  seconds,
  logger,
  processes = 1,
  candidates,
  prefer = 'sympy',
}: SymbolicOptions): Symbolic {
  const onReplaced = (how: string): void => logger.warn('The process for mathematics is replaced.', { how });
  const settings = { memoryMb, seconds, processes, onReplaced };
  let starting: Promise<Backend> | null = null;
  let closed = false;

  const backend = (): Promise<Backend> => {
    if (closed) return Promise.reject(new Failure('MATH_UNAVAILABLE', 'It is closed.'));
    starting ??= choose().catch((error: unknown) => {
      // The next question tries again: a package may have been installed in the meantime.
      starting = null;
      throw error;
    });
    return starting;
  };

  async function choose(): Promise<Backend> {
    const begun = performance.now();
    const chosen = await (prefer === 'compute-engine' ? startComputeEngine(settings) : sympyOrElse());
    logger.info('Mathematics is ready.', { backend: chosen.name, startMs: Math.round(performance.now() - begun) });
    return chosen;
  }

  async function sympyOrElse(): Promise<Backend> {
    if (python !== undefined) {
      try {
        return await startSympy({ ...settings, python });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        logger.warn('The Python of `math.python` is not used for mathematics: another one calculates.', { reason: error.detail });
      }
    }
    for (const candidate of candidates ?? (await pythons())) {
      if (candidate === python) continue;
      try {
        return await startSympy({ ...settings, python: candidate });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        logger.debug('A Python is not used for mathematics.', { reason: error.detail });
      }
    }
    logger.info('No Python with SymPy was found: the Compute Engine calculates, which can do less.');
    return startComputeEngine(settings);
  }

  return {
    async evaluate({ operation, args, signal, timeoutMs }) {
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      const { job, notes } = readRequest(operation, args);
      const used = await backend();
      const calculated = await used.calculate(job, { signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
      return { ...calculated, notes: [...notes, ...calculated.notes], backend: used.name };
    },
    backend: async () => (await backend()).name,
    async health() {
      try {
        await backend();
        return null;
      } catch (error) {
        return error instanceof Failure ? error.message : 'No engine for mathematics runs.';
      }
    },
    async close() {
      closed = true;
      const used = await starting?.catch(() => null);
      await used?.close();
    },
  };
}
