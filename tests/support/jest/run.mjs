// Runs Jest, or a program that runs it, and counts the results.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { runInGroup } from './process-group.mjs';
import { workspaceRoot } from '../../../tools/workspace.mjs';

export const jest = join(workspaceRoot, 'node_modules/jest/bin/jest.js');

/**
 * Runs Node (`program`) with `args`, which write Jest's JSON to .results/<name>.json. Ends it at `limit` seconds, or if it does not end within
 * `endLimit` seconds after its last test: a handle that a test left open would keep Jest running forever.
 *
 * @returns what `runInGroup` returns, the numbers of passed and skipped tests, and a sentence for each failure. It is also a failure if
 * fewer than `expected` spec files ran, or if a test left a process behind.
 */
export async function runJest(name, args, { expected, env, endLimit = 15, program = process.execPath, ...options }) {
  const [outcome, progress] = ['json', 'progress.json'].map((ending) => join(workspaceRoot, `.results/${name}.${ending}`));
  mkdirSync(join(workspaceRoot, '.results'), { recursive: true });
  for (const file of [outcome, progress]) rmSync(file, { force: true });
  const isStuck = () => {
    const { complete, at } = readProgress(progress) ?? {};
    return complete && Date.now() - at > endLimit * 1000;
  };
  const result = await runInGroup(program, args, { ...options, env: { ...env, CONCLAVE_TEST_PROGRESS: progress }, isStuck });
  const none = { passed: 0, skipped: 0, failures: result.timedOut ? [] : ['Its tests left no result.'] };
  const counted = existsSync(outcome) ? countOutcome(JSON.parse(readFileSync(outcome, 'utf8')), expected) : none;
  if (result.timedOut) counted.failures.push(...unfinished(readProgress(progress)));
  if (result.left.length > 0) counted.failures.push(`Still alive at the end: ${result.left.join('; ')}.`);
  return { ...result, ...counted };
}

/** The content of Jest's JSON as numbers and names. A file that could not even be loaded counts as one failure. */
export function countOutcome({ testResults, success, numPassedTests, numPendingTests, numTodoTests }, expected) {
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(workspaceRoot, name);
    if (status === 'failed' && assertionResults.length === 0) return [`${file}: did not run\n${message.trim()}`];
    const failed = assertionResults.filter((test) => test.status === 'failed');
    return failed.map(({ fullName, failureMessages }) => `${file}: ${fullName}\n${failureMessages.join('\n')}`);
  });
  if (testResults.length !== expected) failures.push(`Jest ran ${testResults.length} of ${expected} spec files.`);
  if (!success && failures.length === 0) failures.push('Jest reports a failure outside of any test.');
  return { passed: numPassedTests, skipped: numPendingTests + numTodoTests, failures };
}

/** What the reporter has written; null if there is nothing, or while it is being written. */
function readProgress(path) {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text.endsWith('}') ? JSON.parse(text) : null;
}

/** Sentences that say what a run was doing when it was ended. */
function unfinished(progress) {
  if (progress?.complete) return ['All spec files were finished, but Jest did not end: a test left something open.'];
  if (!progress?.running.length) return ['Jest was ended before, or between, spec files.'];
  return progress.running.map(({ file, test, since }) => {
    const at = test === null ? 'being loaded' : `at the test "${test}"`;
    return `${file} was still ${at}, for ${Math.round((Date.now() - since) / 1000)} s.`;
  });
}
