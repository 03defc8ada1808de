// Tries the property tests with seeds nobody has tried: `npm run fuzz`. Prints the seed of each round, and for each test that fails its first
// counterexample with the command that finds it again. Exit code 0 when nothing was found, 1 for counterexamples, 2 for a wrong call.
//   --minutes 10       how long to look
//   --seed 42          one round with this seed
//   --only dates       only spec files whose path contains this
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { runInGroup } from './process-group.mjs';
import { specFiles } from './results.mjs';
import { projects, workspaceRoot } from './workspace.mjs';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' }, only: { type: 'string', default: '' } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0) || (values.seed !== undefined && !Number.isInteger(Number(values.seed)))) {
  console.error('--minutes takes a number above 0, --seed a whole number.');
  process.exit(2);
}

const specs = projects()
  .filter(({ folder }) => folder !== 'tools')
  .flatMap(({ folder }) => specFiles(folder, 'fast').map((name) => ({ folder, path: join(folder, folder === 'tools' ? '' : 'src', name) })))
  .filter(({ path }) => path.includes(values.only) && readFileSync(join(workspaceRoot, path), 'utf8').includes("from 'fast-check'"));
if (specs.length === 0) {
  console.error(`No spec file with property tests has "${values.only}" in its path.`);
  process.exit(2);
}

const properties = specs.flatMap(({ path }) => readFileSync(join(workspaceRoot, path), 'utf8').match(/\bfc\.assert\(/g) ?? []).length;
/** A round tries every property once; so many that a run has several seeds, not so many that loading is most of it. */
const roundSeconds = Math.min(120, minutes * 60);
const msPerProperty = Math.max(200, Math.round((roundSeconds * 1000 * Math.min(availableParallelism(), specs.length)) / properties));
const outcome = join(workspaceRoot, '.results/fuzz.json');
mkdirSync(join(workspaceRoot, '.results'), { recursive: true });

/** Runs every property with one seed. Gives the failed tests, and null for a round that did not come to its end. */
async function round(seed) {
  const jest = join(workspaceRoot, 'node_modules/jest/bin/jest.js');
  const folders = [...new Set(specs.map(({ folder }) => folder))];
  const files = specs.map(({ path }) => join(workspaceRoot, path));
  const args = ['--experimental-vm-modules', '--no-warnings', jest, '--projects', ...folders, '--json', `--outputFile=${outcome}`];
  const { code, output } = await runInGroup(process.execPath, [...args, '--runTestsByPath', ...files], {
    cwd: workspaceRoot,
    env: { ...process.env, CONCLAVE_FUZZ: JSON.stringify({ seed, msPerProperty }), NO_COLOR: '1', FORCE_COLOR: '0' },
    limit: roundSeconds * 3 + 120,
  });
  const failed = code === 0 ? [] : failures();
  if (code === 0 || failed.length > 0) return failed;
  console.error(output.trim().split('\n').slice(-60).join('\n'));
  return null;
}

function failures() {
  const { testResults } = JSON.parse(readFileSync(outcome, 'utf8'));
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(workspaceRoot, name);
    if (assertionResults.length === 0 && message) return [{ file, test: 'did not run', message }];
    return assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({ file, test: fullName, message: failureMessages.join('\n') }));
  });
}

/** Of a message the part that says what was tried and what went wrong; the frames of libraries say nothing. */
const telling = (message) =>
  message
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at .*node_modules|^Hint:/.test(line))
    .slice(0, 40)
    .map((line) => `    ${line}`)
    .join('\n');

const end = Date.now() + minutes * 60_000;
const known = new Set();
console.log(`${properties} properties in ${specs.length} spec files, ${msPerProperty} ms each in a round.`);
for (;;) {
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  const started = Date.now();
  const found = await round(seed);
  const seconds = Math.round((Date.now() - started) / 1000);
  if (found === null) {
    console.log(`✗ seed ${seed}: the round did not come to its end (${seconds} s).`);
    process.exit(1);
  }
  console.log(`${found.length > 0 ? '✗' : '✓'} seed ${seed}: ${found.length} counterexamples (${seconds} s)`);
  for (const { file, test, message } of found.filter(({ file, test }) => !known.has(`${file}: ${test}`))) {
    known.add(`${file}: ${test}`);
    console.log(`\n${file}: ${test}\n${telling(message)}\n    Again: npm run fuzz -- --seed ${seed} --only ${file}\n`);
  }
  if (values.seed !== undefined || Date.now() + (Date.now() - started) / 2 > end) break;
}
process.exitCode = known.size > 0 ? 1 : 0;
