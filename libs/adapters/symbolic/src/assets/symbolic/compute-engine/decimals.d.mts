import type { Tree } from '../../../syntax/tree.js';

/** Real and imaginary part as an engine returns them, with more digits than requested. */
export interface Parts {
  readonly re: string | null;
  readonly im: string | null;
}

export function decimalOf(tree: Tree, parts: Parts | null, precision: number): string | null;
export function rounded(text: string, precision: number): string | null;
