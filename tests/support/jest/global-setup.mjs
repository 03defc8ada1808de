import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceRoot } from '../../../tools/workspace.mjs';
import { bundleSpecs, isBundled } from './bundles.mjs';
import { specFiles } from './levels.mjs';

/** Jest calls it once before all spec files. Workers inherit the variable. */
export default async function bundleWhatRuns({ testPathPatterns, rootDir }, { roots, globals }) {
  const isWanted = (path) => testPathPatterns.toExecutor({ rootDir }).isMatch(path) && roots.some((root) => path.startsWith(`${root}/`));
  const files = specFiles(globals.levels)
    .map((path) => join(workspaceRoot, path))
    .filter((path) => isWanted(path) && isBundled(path, readFileSync(path, 'utf8')));
  if (files.length > 0) process.env.CONCLAVE_SPEC_BUNDLES = await bundleSpecs(files);
}
