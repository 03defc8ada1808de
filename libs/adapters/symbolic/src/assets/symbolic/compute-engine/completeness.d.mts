import type { SymbolicJob } from '../../../request.js';
import type { Tree } from '../../../syntax/tree.js';

export function areAll(
  job: Pick<Extract<SymbolicJob, { operation: 'solve' }>, 'relations' | 'variables'>,
  solutions: readonly Readonly<Record<string, Tree>>[],
): boolean;
