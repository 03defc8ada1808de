// Runs Jest in the current project: `node ../../tools/jest.mjs [fast|int] [jest arguments]`.
// The outcome is also written as JSON to .results/<level>.json, where the whole-workspace run counts it.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';

const [first, ...rest] = process.argv.slice(2);
const known = first === 'fast' || first === 'int';
const level = known ? first : 'fast';
const extra = known ? rest : process.argv.slice(2);
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');

mkdirSync('.results', { recursive: true });
const child = spawn(
  process.execPath,
  ['--experimental-vm-modules', '--no-warnings', jest, '--json', `--outputFile=.results/${level}.json`, '--passWithNoTests', ...extra],
  { stdio: ['inherit', 'ignore', 'inherit'], env: { ...process.env, TEST_LEVEL: level } },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
