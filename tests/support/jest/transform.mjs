// How Jest reads TypeScript: a spec file is replaced by its bundle; everything outside of a bundle is compiled file by file.
import { relative } from 'node:path';
import { transformSync } from 'esbuild';
import { workspaceRoot } from '../../../tools/workspace.mjs';
import { isBundled } from './bundles.mjs';
import { typescriptOptions } from './typescript-options.mjs';

export function process(source, path) {
  if (!isBundled(path, source)) return transformSync(source, { ...typescriptOptions, sourcemap: 'inline', sourcefile: path });
  const bundle = `/${relative(workspaceRoot, path).replace(/\.ts$/, '.mjs')}`;
  // The text is the same for every run, because Jest caches it.
  return { code: `await import(process.env.CONCLAVE_SPEC_BUNDLES + ${JSON.stringify(bundle)});` };
}
export default { process };
