// Runs Jest in the current project: `node ../../tools/jest.mjs [fast|int|e2e-embedded|e2e-distributed] [jest arguments]`.
// The outcome is also written as JSON to .results/<level>.json, where the run of the whole workspace counts it.
// A run that takes over TEST_LIMIT_S seconds, or that does not end within TEST_END_LIMIT_S (15) after its last test, is ended,
// and says what it was at: what a test left open holds Jest for ever.
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { descendants, endProcesses } from './process-group.mjs';
import { progressFile, readProgress, unfinished } from './progress.mjs';

const levels = ['fast', 'int', 'e2e-embedded', 'e2e-distributed'];
const [first] = process.argv.slice(2);
const level = levels.includes(first) ? first : 'fast';
const extra = process.argv.slice(levels.includes(first) ? 3 : 2);
const environment = { ...process.env, TEST_LEVEL: level };
if (level.startsWith('e2e-')) environment.ENGINE = level.slice('e2e-'.length);

const limitMs = Number(process.env.TEST_LIMIT_S ?? Infinity) * 1000;
const endLimitMs = Number(process.env.TEST_END_LIMIT_S ?? 15) * 1000;

const outcome = `.results/${level}.json`;
const progress = progressFile(level);
mkdirSync('.results', { recursive: true });
for (const file of [outcome, progress]) rmSync(file, { force: true });

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
// Every spec file loads its libraries anew: a larger nursery and a collector without helper threads clean up after it with less work.
const memory = ['--single-threaded-gc', '--min-semi-space-size=32', '--max-semi-space-size=64'];
const flags = ['--experimental-vm-modules', '--no-warnings', ...memory];
const options = ['--json', `--outputFile=${outcome}`, '--passWithNoTests', ...extra];
environment.CONCLAVE_TEST_PROGRESS = progress;
// Jest reports on stderr; stdout would only carry the JSON once more.
const child = spawn(process.execPath, [...flags, jest, ...options], { stdio: ['inherit', 'ignore', 'inherit'], env: environment });
const started = Date.now();

const watch = setInterval(() => {
  const state = readProgress(progress);
  const over = state?.complete ? Date.now() - state.at > endLimitMs : Date.now() - started > limitMs;
  if (over) end(state ?? { complete: false, running: [] });
}, 500);

/** Ends Jest and what its tests started, and leaves behind what it was at. */
function end(state) {
  clearInterval(watch);
  const left = descendants(child.pid);
  const report = { ...state, left: left.map(({ pid, command }) => `${command} (process ${pid})`) };
  writeFileSync(progress, JSON.stringify(report));
  for (const line of unfinished(report)) console.error(line);
  endProcesses([child.pid, ...left.map(({ pid }) => pid)]);
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  clearInterval(watch);
  if (code !== null) rmSync(progress, { force: true });
  process.exit(code ?? 1);
});
