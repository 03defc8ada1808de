// Runs a built program of the workspace from any state of the checkout: installs if needed, builds, then becomes it.
//   node tools/run.mjs apps/standalone/bundle/main.js [arguments]
// The program runs in this very process, so that signals and exit codes are its own; it ends with the npm that started it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { endWithNpm } from './ends-with-npm.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { workspaceRoot } from './workspace.mjs';

const [program, ...args] = process.argv.slice(2);
const npmIsGone = endWithNpm('tools/run.mjs');
ensureInstalled();
const { status } = spawnSync(process.execPath, [join(workspaceRoot, 'tools/build.mjs')], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
if (npmIsGone()) process.exit(143);

const entry = resolve(workspaceRoot, program);
if (!existsSync(entry)) {
  console.error(
    `${program} does not exist after the build; is ${program.replace('/bundle/main.js', '/src/start.ts').replace('/dist/', '/src/').replace(/\.js$/, '.ts')} there?`,
  );
  process.exit(1);
}
process.argv = [process.execPath, entry, ...args];
process.setSourceMapsEnabled(true);
await import(pathToFileURL(entry).href);
