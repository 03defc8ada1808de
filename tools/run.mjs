// Runs a program of the workspace from any state of the checkout: installs if needed, builds, then runs it.
//   node tools/run.mjs standalone [arguments]
// The program runs in this same process, so that signals reach it and its exit code is returned; it ends with the npm that started it.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { endWithNpm } from './ends-with-npm.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { workspaceRoot } from './workspace.mjs';

const [program, ...args] = process.argv.slice(2);
const npmIsGone = endWithNpm('tools/run.mjs');
ensureInstalled();
const { buildAll } = await import('./build.mjs');
await buildAll();
if (npmIsGone()) process.exit(143);

const entry = join(workspaceRoot, 'dist', `${program}.js`);
process.argv = [process.execPath, entry, ...args];
await import(pathToFileURL(entry).href);
