/** What can be calculated. */
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

/** Other words that people and models use for an operation. */
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

/** The operation that a name means, such as `diff` or `matrix.det`; null for a name that is not known. */
export function symbolicOperationOf(name: string): SymbolicOperation | null {
  const word = name
    .trim()
    .toLowerCase()
    .replace(/^(math|matrix)[._]/, '')
    .replace(/^matrix[._]/, '');
  return symbolicOperations.find((operation) => operation === word) ?? (Object.hasOwn(otherWords, word) ? otherWords[word]! : null);
}

/**
 * Arguments by name; texts in usual notation (`3*x^2`, `2x`, `√2`, `sin(x)`), numbers taken as texts. What an operation reads:
 * `expression` (all but matrices; for `solve` an equation, an inequality, or a term that is to be 0), `variable` (where more than one name
 * stands in the expression), `equations` and `variables` (systems), `values` (name -> value put in by `evaluate`), `lower` and `upper`
 * (definite integral, sum, product), `point` and `direction` (`+`, `-`, `both`) (limit, series), `order` (derivative, series),
 * `precision` (significant digits of the decimal, 1 to 1000), `domain` (`real` or `complex`, solve), `matrix` and `other` (rows of entries).
 */
export type SymbolicArgs = Readonly<Record<string, unknown>>;

export interface SymbolicRequest {
  readonly operation: SymbolicOperation;
  readonly args: SymbolicArgs;
  readonly signal: AbortSignal;
  /** Bound of the whole request in milliseconds, waiting for a free process included; the adapter's own bound holds as well. */
  readonly timeoutMs?: number;
}

export interface SymbolicResult {
  /** Exact, in a notation that is read again: `x^2/2`, `x = -2 or x = 2`, `[[1, 2], [3, 4]]`. */
  readonly result: string;
  /** Decimal value, or null where a name is left in the result. */
  readonly decimal: string | null;
  readonly latex: string | null;
  /** `solve` only: each solution as name -> exact value; null where the solutions are no finite list. */
  readonly solutions: readonly Readonly<Record<string, string>>[] | null;
  /** What the result leaves open, such as solutions that were not found; null where it is whole. Whoever tells the result tells this with it. */
  readonly caveat: string | null;
  /** Which engine calculated: `sympy <version>` or `compute-engine <version>`. */
  readonly engine: string;
  /** How an input was understood, and how the result is meant. */
  readonly notes: readonly string[];
}

/** Exact mathematics. Adapters: SymPy in a process of its own, the Compute Engine in a process of its own. */
export interface Symbolic {
  /**
   * Text of the arguments is data: it is parsed, never executed. Throws Failure MATH_INPUT_INVALID (says what to write instead),
   * MATH_LIMIT (too large, or stopped at its time or memory), MATH_UNSUPPORTED (the engine has no such operation or finds no exact
   * result), MATH_UNAVAILABLE (no engine runs), CALL_CANCELLED (the signal). Whatever fails, the next call is served.
   */
  evaluate(request: SymbolicRequest): Promise<SymbolicResult>;
  /** Engine that calculates, as in a result; starts it where it does not run yet. Throws MATH_UNAVAILABLE. */
  engine(): Promise<string>;
  /** Null while it can calculate, else a sentence that says what is missing. */
  health(): Promise<string | null>;
  /** Ends its processes. Safe to call twice. */
  close(): Promise<void>;
}
