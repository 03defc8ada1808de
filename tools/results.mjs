// Counts tests from the JSON that Jest wrote, and notices where fewer ran than there are.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
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

/** The counted outcome of one project at one level; a project whose specs left no JSON behind has failed. */
export function projectOutcome(folder, level) {
  const expected = specFiles(folder, level).length;
  const path = join(workspaceRoot, folder, '.results', `${level}.json`);
  if (!existsSync(path)) {
    return { passed: 0, failures: expected === 0 ? [] : [`${folder}: its ${level} tests left no result.`], skipped: 0 };
  }
  const counted = countOutcome(JSON.parse(readFileSync(path, 'utf8')), expected);
  return { ...counted, failures: counted.failures.map((failure) => `${folder}: ${failure}`) };
}
