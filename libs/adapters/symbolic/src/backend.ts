import type { SymbolicResult } from '@conclave/ports';
import type { SymbolicJob } from './request.js';

export type Calculated = Omit<SymbolicResult, 'backend'>;

/** Calculates jobs in separate processes. */
export interface Backend {
  /** Name and version as shown in a result, such as `sympy 1.11.1`. */
  readonly name: string;
  /** Throws Failure MATH_INPUT_INVALID, MATH_LIMIT, MATH_UNSUPPORTED, MATH_UNAVAILABLE, CALL_CANCELLED. */
  calculate(job: SymbolicJob, within: { readonly signal: AbortSignal; readonly timeoutMs?: number }): Promise<Calculated>;
  close(): Promise<void>;
}
