// Prints the documentation that comes from the contracts, the platform's list of metrics, the fault scenarios, the counts, the results of
// the clients and the checks of the deployment, the list of decisions, and the dashboards and alert rules: `npm run docs`. With --check nothing is written, and a
// difference between the printed and the committed files is a failure.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { printDocs } from '../libs/contracts/src/print/index.ts';
import { metricsTable } from '../libs/platform/src/index.ts';
import { monitoringFolders, printMonitoring } from '../deploy/src/monitoring/index.ts';
import { roundTripsPage } from '../bench/src/round-trips/table.ts';
import { deploymentChecksPage } from '../deploy/check/page.mjs';
import { clientsPage } from '../tests/clients/page.mjs';
import { guaranteesPage } from '../tests/faults/src/index.ts';
import { decisionsPage } from './decisions-page.mjs';

const generatedFolder = 'docs/generated';
/** Everything in these folders is printed; a file that is no longer printed is out of date too. */
const printedFolders = [generatedFolder, ...monitoringFolders];

const printed = {
  ...(await printDocs()),
  ...printMonitoring(),
  [`${generatedFolder}/metrics.md`]: metricsTable(),
  'docs/clients.md': clientsPage(),
  'docs/decisions/README.md': decisionsPage(),
  'docs/deployment-checks.md': deploymentChecksPage(),
  'docs/guarantees.md': guaranteesPage(),
  'docs/round-trips.md': roundTripsPage(),
};

const changed = Object.entries(printed).filter(([name, text]) => !existsSync(name) || readFileSync(name, 'utf8') !== text);
const orphans = printedFolders
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((name) => !(name in printed));

if (changed.length + orphans.length === 0) console.log(`${Object.keys(printed).length} printed documents are current.`);
else if (process.argv.includes('--check')) {
  for (const [name] of changed) console.error(`${name} is not what the code prints.`);
  for (const name of orphans) console.error(`${name} is no longer printed.`);
  console.error('Run `npm run docs` and commit the result.');
  process.exitCode = 1;
} else {
  for (const [name, text] of changed) {
    mkdirSync(dirname(name), { recursive: true });
    writeFileSync(name, text);
    console.log(`Printed ${name}.`);
  }
  for (const name of orphans) {
    rmSync(name);
    console.log(`Removed ${name}.`);
  }
}
