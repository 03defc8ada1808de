// Counts tests from the JSON that Jest wrote, and notices where fewer ran than there are.
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { progressFile, readProgress, unfinished } from './progress.mjs';
import { workspaceRoot } from './workspace.mjs';

/** Where a level keeps its specs: `int` are the *.int.spec.ts of src/, every other level the rest of the specs. */
export function specFiles(folder, level) {
  const root = join(workspaceRoot, folder, folder === 'tools' ? '' : 'src');
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true }).filter(
    (name) => /\.spec\.(ts|mjs)$/.test(name) && name.includes('.int.spec.') === (level === 'int'),
  );
}

/** What Jest's JSON says, in numbers and in names. A file that could not even be loaded is one failure. */
export function countOutcome(outcome, expectedFiles) {
  const failures = [];
  for (const file of outcome.testResults) {
    if (file.status === 'failed' && file.assertionResults.length === 0) failures.push(`${file.name}: did not run: ${file.message.trim()}`);
    for (const test of file.assertionResults) {
      if (test.status === 'failed') failures.push(`${test.fullName}\n${test.failureMessages.join('\n')}`);
    }
  }
  const ran = outcome.testResults.length;
  if (ran !== expectedFiles) failures.push(`Jest ran ${ran} of ${expectedFiles} spec files.`);
  if (!outcome.success && failures.length === 0) failures.push('Jest reports a failure outside of any test.');
  return {
    passed: outcome.numPassedTests,
    failures,
    skipped: outcome.numPendingTests + outcome.numTodoTests,
  };
}

/** Removes what an earlier run of a project left behind. */
export function forgetOutcome(folder, level) {
  for (const file of [outcomeFile(level), progressFile(level)]) rmSync(join(workspaceRoot, folder, file), { force: true });
}

const outcomeFile = (level) => `.results/${level}.json`;

/** What a run of a project was at when it was ended, in sentences; none when it ended by itself. */
function interruption(folder, level) {
  const progress = readProgress(join(workspaceRoot, folder, progressFile(level)));
  return progress ? unfinished(progress).map((sentence) => `${folder}: ${sentence}`) : [];
}

/** The counted outcome of one project at one level; a project whose specs left no JSON behind has failed. */
export function projectOutcome(folder, level) {
  const expected = specFiles(folder, level).length;
  const path = join(workspaceRoot, folder, outcomeFile(level));
  const interrupted = interruption(folder, level);
  if (!existsSync(path)) {
    const failures = interrupted.length > 0 || expected === 0 ? interrupted : [`${folder}: its ${level} tests left no result.`];
    return { passed: 0, failures, skipped: 0 };
  }
  const counted = countOutcome(JSON.parse(readFileSync(path, 'utf8')), expected);
  return { ...counted, failures: [...counted.failures.map((failure) => `${folder}: ${failure}`), ...interrupted] };
}
