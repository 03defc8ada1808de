import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { countOutcome } from './run.mjs';
import { workspaceRoot } from '../../../tools/workspace.mjs';

const file = (...tests) => ({
  name: join(workspaceRoot, 'a.spec.ts'),
  status: tests.some((test) => test.status === 'failed') ? 'failed' : 'passed',
  message: '',
  assertionResults: tests,
});
const test = (status) => ({ status, fullName: `a ${status} test`, failureMessages: status === 'failed' ? ['expected 1, got 2'] : [] });
const outcome = (fields) => ({ success: true, numPassedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [], ...fields });

describe('counting results', () => {
  it('counts passed, failed and skipped tests', () => {
    const counted = countOutcome(
      outcome({
        success: false,
        numPassedTests: 3,
        numPendingTests: 1,
        numTodoTests: 1,
        testResults: [file(test('passed'), test('failed'))],
      }),
      1,
    );
    expect(counted).toEqual({ passed: 3, failures: ['a.spec.ts: a failed test\nexpected 1, got 2'], skipped: 2 });
  });

  it('counts a file that could not be loaded as a failure', () => {
    const broken = { name: join(workspaceRoot, 'b.spec.ts'), status: 'failed', message: 'Cannot find module', assertionResults: [] };
    expect(countOutcome(outcome({ success: false, testResults: [broken] }), 1).failures).toEqual([
      'b.spec.ts: did not run\nCannot find module',
    ]);
  });

  it('counts spec files that were never run as a failure', () => {
    expect(countOutcome(outcome({ testResults: [file(test('passed'))] }), 2).failures).toEqual(['Jest ran 1 of 2 spec files.']);
  });

  it('reports a failure of Jest that no test shows', () => {
    expect(countOutcome(outcome({ success: false }), 0).failures).toHaveLength(1);
  });
});
