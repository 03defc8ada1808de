// Prints the documentation that comes from the contracts, from the platform's list of metrics and from the fault scenarios: `npm run docs`.
// With --check nothing is written, and a difference between what is printed and what is committed is a failure.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureInstalled } from './ensure-installed.mjs';
import { workspaceRoot } from './workspace.mjs';

/** Everything in this folder is printed; a file there that nothing prints any more is out of date too. */
const generatedFolder = 'docs/generated';

ensureInstalled();
// The list of fault scenarios imports most of the workspace.
const built = spawnSync(process.execPath, [join(workspaceRoot, 'tools/build.mjs')], { stdio: 'inherit' });
if (built.status !== 0) process.exit(built.status ?? 1);

const { printDocs } = await import('../libs/contracts/dist/index.js');
const { metricsTable } = await import('../libs/platform/dist/index.js');
const { guaranteesPage } = await import('../tests/faults/dist/index.js');
const printed = { ...(await printDocs()), [`${generatedFolder}/metrics.md`]: metricsTable(), 'docs/guarantees.md': guaranteesPage() };

const path = (name) => join(workspaceRoot, name);
const changed = Object.entries(printed).filter(([name, text]) => !existsSync(path(name)) || readFileSync(path(name), 'utf8') !== text);
const orphans = readdirSync(path(generatedFolder), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(workspaceRoot.length + 1))
  .filter((name) => !(name in printed));

if (changed.length + orphans.length === 0) console.log(`${Object.keys(printed).length} printed documents are current.`);
else if (process.argv.includes('--check')) {
  for (const [name] of changed) console.error(`${name} is not what the code prints.`);
  for (const name of orphans) console.error(`${name} is not printed any more.`);
  console.error('Run `npm run docs` and commit the result.');
  process.exitCode = 1;
} else {
  for (const [name, text] of changed) {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
    console.log(`Printed ${name}.`);
  }
  for (const name of orphans) {
    rmSync(path(name));
    console.log(`Removed ${name}.`);
  }
}
