// Runs Jest in the current project: `node ../../tools/jest.mjs [fast|int|e2e-embedded|e2e-distributed] [jest arguments]`.
// The outcome is also written as JSON to .results/<level>.json, where the run of the whole workspace counts it.
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';

const levels = ['fast', 'int', 'e2e-embedded', 'e2e-distributed'];
const [first] = process.argv.slice(2);
const level = levels.includes(first) ? first : 'fast';
const extra = process.argv.slice(levels.includes(first) ? 3 : 2);
const environment = { ...process.env, TEST_LEVEL: level };
if (level.startsWith('e2e-')) environment.ENGINE = level.slice('e2e-'.length);

const outcome = `.results/${level}.json`;
mkdirSync('.results', { recursive: true });
rmSync(outcome, { force: true });

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
// Every spec file loads its libraries anew: a larger nursery and a collector without helper threads clean up after it with less work.
const memory = ['--single-threaded-gc', '--min-semi-space-size=32', '--max-semi-space-size=64'];
const flags = ['--experimental-vm-modules', '--no-warnings', ...memory];
const options = ['--json', `--outputFile=${outcome}`, '--passWithNoTests', ...extra];
// Jest reports on stderr; stdout would only carry the JSON once more.
const child = spawn(process.execPath, [...flags, jest, ...options], { stdio: ['inherit', 'ignore', 'inherit'], env: environment });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
