// Tries the property tests with new seeds: `npm run fuzz`. Prints the seed of each round, and for each test that fails its first
// counterexample with the command that reproduces it. Exit code 0 if nothing was found, 1 for counterexamples, 2 for wrong arguments.
//   --minutes 10       how long to look
//   --seed 42          one round with this seed
//   --only dates       only spec files whose path contains this
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { jest, runJest } from './run.mjs';
import { specFiles, unchosen } from './levels.mjs';
import { ensureInstalled } from '../../../tools/ensure-installed.mjs';
import { workspaceRoot } from '../../../tools/workspace.mjs';

ensureInstalled({ forDevelopers: true });

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' }, only: { type: 'string', default: '' } },
});
const minutes = Number(values.minutes);
const refuse = (sentence) => {
  console.error(sentence);
  process.exit(2);
};
if (!(minutes > 0) || (values.seed !== undefined && !Number.isInteger(Number(values.seed))))
  refuse('--minutes takes a number above 0, --seed a whole number.');
const source = (path) => readFileSync(join(workspaceRoot, path), 'utf8');
const specs = specFiles(unchosen).filter(
  (path) => path.endsWith('.ts') && path.includes(values.only) && source(path).includes("from 'fast-check'"),
);
if (specs.length === 0) refuse(`No spec file with property tests has "${values.only}" in its path.`);

const properties = specs.flatMap((path) => source(path).match(/\bfc\.assert\(/g) ?? []).length;
/**
 * A round tries every property once. It is short enough for a run to use several seeds, and long enough for loading not to be most of it.
 */
const roundSeconds = Math.min(120, minutes * 60);
const msPerProperty = Math.max(200, Math.round((roundSeconds * 1000 * Math.min(availableParallelism(), specs.length)) / properties));
console.log(`${properties} properties in ${specs.length} spec files, ${msPerProperty} ms each in a round.`);

/** The part of a failure that says what was tried and what went wrong; the stack frames of libraries add nothing. */
const telling = (failure) => failure.split('\n').filter((line) => line.trim() !== '' && !/^\s+at .*node_modules|^Hint:/.test(line));

const known = new Set();
const end = Date.now() + minutes * 60_000;
let mayRunAgain;
do {
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  const round = await runJest(
    'fuzz',
    [jest, '--json', '--outputFile=.results/fuzz.json', '--maxWorkers=100%', '--runTestsByPath', ...specs],
    {
      cwd: workspaceRoot,
      env: {
        ...process.env,
        CONCLAVE_FUZZ: JSON.stringify({ seed, msPerProperty }),
        TEST_LEVEL: unchosen.join(','),
        NO_COLOR: '1',
        FORCE_COLOR: '0',
      },
      limit: roundSeconds * 3 + 120,
      expected: specs.length,
    },
  );
  console.log(
    `${round.failures.length > 0 ? '✗' : '✓'} seed ${seed}: ${round.failures.length} counterexamples (${Math.round(round.seconds)} s)`,
  );
  for (const [test, ...message] of round.failures.map(telling).filter(([test]) => !known.has(test))) {
    known.add(test);
    const again = `Again: npm run fuzz -- --seed ${seed} --only ${test.split(':')[0]}`;
    console.log(['', test, ...[...message.slice(0, 40), again].map((line) => `    ${line}`), ''].join('\n'));
  }
  mayRunAgain = values.seed === undefined && Date.now() + round.seconds * 500 <= end;
} while (mayRunAgain);
process.exitCode = known.size > 0 ? 1 : 0;
