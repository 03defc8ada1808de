// `node --import <this file> script.ts`: runs a script of the workspace from its source, for tests that need a separate process to kill.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { transform } from 'esbuild';
import { typescriptOptions } from './jest/typescript-options.mjs';

if (isMainThread) register(import.meta.url);

/** In TypeScript a relative import of `x.js` means `x.ts`. */
export function resolve(specifier, context, next) {
  const ofSource = /^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts');
  return next(ofSource ? specifier.replace(/\.js$/, '.ts') : specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), { ...typescriptOptions, sourcefile: filename });
  return { format: 'module', source: code, shortCircuit: true };
}
