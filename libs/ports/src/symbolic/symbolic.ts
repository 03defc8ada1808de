/** Supported operations. */
export const symbolicOperations = [
  'evaluate',
  'simplify',
  'expand',
  'factor',
  'solve',
  'integrate',
  'differentiate',
  'limit',
  'sum',
  'product',
  'series',
  'determinant',
  'inverse',
  'rank',
  'eigenvalues',
  'rref',
  'multiply',
] as const;
export type SymbolicOperation = (typeof symbolicOperations)[number];

/** Synonyms of the operations. */
const otherWords: Readonly<Record<string, SymbolicOperation>> = {
  calculate: 'evaluate',
  compute: 'evaluate',
  numeric: 'evaluate',
  numerical: 'evaluate',
  n: 'evaluate',
  evalf: 'evaluate',
  reduce: 'simplify',
  factorise: 'factor',
  factorize: 'factor',
  solve_equation: 'solve',
  solve_system: 'solve',
  roots: 'solve',
  integral: 'integrate',
  integration: 'integrate',
  derivative: 'differentiate',
  derive: 'differentiate',
  diff: 'differentiate',
  summation: 'sum',
  taylor: 'series',
  det: 'determinant',
  inv: 'inverse',
  eigenvals: 'eigenvalues',
  matmul: 'multiply',
};

/** The operation for a name, such as `diff` or `matrix.det`; null for an unknown name. */
export function symbolicOperationOf(name: string): SymbolicOperation | null {
  const word = name
    .trim()
    .toLowerCase()
    .replace(/^(math|matrix)[._]/, '')
    .replace(/^matrix[._]/, '');
  return symbolicOperations.find((operation) => operation === word) ?? (Object.hasOwn(otherWords, word) ? otherWords[word]! : null);
}

/**
 * Arguments by name; texts in usual notation (`3*x^2`, `2x`, `√2`, `sin(x)`), numbers are read as texts. Operations read: `expression` (all
 * but matrices; for `solve` an equation, an inequality, or a term set to 0), `variable` (if the expression has more than one name),
 * `equations` and `variables` (systems), `values` (name -> value substituted by `evaluate`), `lower` and `upper` (definite integral, sum,
 * product), `point` and `direction` (`+`, `-`, `both`) (limit, series), `order` (derivative, series), `precision` (significant digits of
 * the decimal, 1 to 1000), `domain` (`real` or `complex`, solve), `matrix` and `other` (rows of entries).
 */
export type SymbolicArgs = Readonly<Record<string, unknown>>;

export interface SymbolicRequest {
  readonly operation: SymbolicOperation;
  readonly args: SymbolicArgs;
  readonly signal: AbortSignal;
  /** Time limit of the whole request in milliseconds, including the wait for a free process; the adapter's own limit also applies. */
  readonly timeoutMs?: number;
}

export interface SymbolicResult {
  /** Exact, in a notation that can be parsed again: `x^2/2`, `x = -2 or x = 2`, `[[1, 2], [3, 4]]`. */
  readonly result: string;
  /** Decimal value; null if the result still contains a name. */
  readonly decimal: string | null;
  readonly latex: string | null;
  /** `solve` only: each solution as name -> exact value; null if the solutions are not a finite list. */
  readonly solutions: readonly Readonly<Record<string, string>>[] | null;
  /**
   * What the result leaves open, such as solutions that were not found; null if it is complete. Always report it together with the result.
   */
  readonly caveat: string | null;
  /** The back end that calculated: `sympy <version>` or `compute-engine <version>`. */
  readonly backend: string;
  /** How the input was interpreted, and how to read the result. */
  readonly notes: readonly string[];
}

/** Exact mathematics. Adapters: SymPy and the Compute Engine, each in its own process. */
export interface Symbolic {
  /**
   * The arguments' text is data: it is parsed, never executed. Throws Failure MATH_INPUT_INVALID (says what to write instead), MATH_LIMIT
   * (too large, or stopped at its time or memory limit), MATH_UNSUPPORTED (the back end has no such operation or finds no exact result),
   * MATH_UNAVAILABLE (no back end runs), CALL_CANCELLED (the signal). A failure never affects the next call.
   */
  evaluate(request: SymbolicRequest): Promise<SymbolicResult>;
  /** The back end in use, as in a result; starts it if necessary. Throws MATH_UNAVAILABLE. */
  backend(): Promise<string>;
  /** Null while it can calculate, otherwise a sentence that says what is missing. */
  health(): Promise<string | null>;
  /** Ends its processes. Safe to call twice. */
  close(): Promise<void>;
}
