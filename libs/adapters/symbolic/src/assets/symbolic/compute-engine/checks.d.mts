import type { SymbolicJob, Rows } from '../../../request.js';
import type { Tree } from '../../../syntax/tree.js';

/** `true` it holds, `false` it does not, `null` nothing could be compared. */
export type Check = boolean | null;

export function sameValue(a: Tree, b: Tree): Check;
export function sameWith(expression: Tree, values: readonly (readonly [name: string, value: Tree])[], result: Tree): Check;
export function solves(
  relations: Extract<SymbolicJob, { operation: 'solve' }>['relations'],
  solution: Readonly<Record<string, Tree>>,
): Check;
export function isDerivative(whole: Tree, slope: Tree, variable: string): Check;
export function isIntegral(expression: Tree, variable: string, bounds: readonly [Tree, Tree], result: Tree): Check;
export function isLimit(job: Extract<SymbolicJob, { operation: 'limit' }>, result: Tree): Check;
export function isRange(job: Extract<SymbolicJob, { operation: 'sum' | 'product' }>, result: Tree): Check;
export function isProduct(left: Rows, right: Rows, result: Rows): Check;
export function identity(side: number): Rows;
export function isDeterminant(matrix: Rows, result: Tree): Check;
export function areEigenvalues(matrix: Rows, values: readonly Tree[]): Check;
