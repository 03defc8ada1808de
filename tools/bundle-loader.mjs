// Beside each bundled program as `load.js`: runs `program.cjs` with the machine code that V8 had for it at build time, which is a third of
// what a start costs. Another Node or processor refuses that code and compiles anew.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, Script } from 'node:vm';

/** Parameters of the function around `program.cjs`: those of a CommonJS module, and the URL that its `import.meta.url` gives. */
const parameters = 'exports, require, module, __filename, __dirname, $moduleUrl';

/** Text of a bundled program, which holds one byte a character: V8 keeps the machine code of such a source and the source itself in half the space. */
export const sourceOf = (bytes) => bytes.latin1Slice();

/**
 * Compiles and evaluates the program beside `main` (URL of a file in its folder). `cache` names the file with its machine code; the
 * program runs without one as well. Gives what the program exports, and the script.
 */
export function loadProgram(main, cache) {
  const filename = fileURLToPath(new URL('program.cjs', main));
  const cacheFile = fileURLToPath(new URL(cache, main));
  const script = new Script(`(function (${parameters}) {${sourceOf(readFileSync(filename))}\n})`, {
    filename,
    cachedData: existsSync(cacheFile) ? readFileSync(cacheFile) : undefined,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(main), module, filename, dirname(filename), main);
  return { exports: module.exports, script };
}
