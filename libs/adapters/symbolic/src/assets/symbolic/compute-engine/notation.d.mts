import type { Tree } from '../../../syntax/tree.js';

export function notationOf(tree: Tree): string;
