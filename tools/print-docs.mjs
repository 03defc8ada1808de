// Prints the documentation that comes from the contracts, from the platform's list of metrics and from the fault scenarios: `npm run docs`. With --check nothing is written and a difference
// between what is printed and what is committed is a failure.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled } from './ensure-installed.mjs';
import { workspaceRoot } from './workspace.mjs';

/** Everything in this folder is printed; a file there that nothing prints any more is out of date too. */
const generatedFolder = 'docs/generated';

ensureInstalled();
// The list of fault scenarios imports most of the workspace.
const built = spawnSync(process.execPath, [join(workspaceRoot, 'tools/build.mjs')], { stdio: 'inherit' });
if (built.status !== 0) process.exit(built.status ?? 1);

const { printDocs } = await import(pathToFileURL(join(workspaceRoot, 'libs/contracts/dist/index.js')).href);
if (typeof printDocs !== 'function') {
  console.error('libs/contracts exports no printDocs(), so there is no documentation to print.');
  process.exit(1);
}
const { metricsTable } = await import(pathToFileURL(join(workspaceRoot, 'libs/platform/dist/index.js')).href);
const { guaranteesPage } = await import(pathToFileURL(join(workspaceRoot, 'tests/faults/dist/index.js')).href);
const printed = Object.entries({
  ...(await printDocs()),
  [`${generatedFolder}/metrics.md`]: metricsTable(),
  'docs/guarantees.md': guaranteesPage(),
});
if (printed.length === 0) {
  console.error('printDocs() of libs/contracts printed nothing.');
  process.exit(1);
}

const current = (path) => (existsSync(join(workspaceRoot, path)) ? readFileSync(join(workspaceRoot, path), 'utf8') : undefined);
const changed = printed.filter(([path, text]) => current(path) !== text);
const folder = join(workspaceRoot, generatedFolder);
const orphans = (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(workspaceRoot.length + 1))
  .filter((path) => !printed.some(([name]) => name === path));

if (process.argv.includes('--check')) {
  for (const [path] of changed) console.error(`${path} is not what the contracts print.`);
  for (const path of orphans) console.error(`${path} is not printed by the contracts any more.`);
  if (changed.length + orphans.length > 0) {
    console.error('Run `npm run docs` and commit the result.');
    process.exit(1);
  }
  console.log(`${printed.length} printed documents are current.`);
} else {
  for (const [path, text] of changed) {
    mkdirSync(dirname(join(workspaceRoot, path)), { recursive: true });
    writeFileSync(join(workspaceRoot, path), text);
    console.log(`Printed ${path}.`);
  }
  for (const path of orphans) {
    rmSync(join(workspaceRoot, path));
    console.log(`Removed ${path}.`);
  }
  if (changed.length + orphans.length === 0) console.log(`${printed.length} printed documents are current.`);
}
