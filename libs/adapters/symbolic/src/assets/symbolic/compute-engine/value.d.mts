import type { Tree } from '../../../syntax/tree.js';

/** A complex number by floating point. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}

/** Value of an expression by floating point; NaN where it has none. */
export function valueAt(tree: Tree, at?: Readonly<Record<string, Complex>>): Complex;
