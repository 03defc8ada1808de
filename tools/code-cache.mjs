// Evaluates one bundled program without starting it and keeps the machine code that V8 then has:
//   node tools/code-cache.mjs apps/planner/bundle <name of the cache file>
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadProgram } from './bundle-loader.mjs';
import { writeWhole } from './write-whole.mjs';

const [folder, cache] = process.argv.slice(2);
const { script } = loadProgram(pathToFileURL(join(folder, 'main.js')).href, cache);
writeWhole(join(folder, cache), script.createCachedData());
// An evaluated program may hold what keeps a process alive.
process.exit(0);
