import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import fc, * as named from 'fast-check';
import { runInGroup } from './process-group.mjs';
import { workspaceRoot } from '../../../tools/workspace.mjs';

jest.setTimeout(60_000);

const below = (limit) => fc.property(fc.nat(), (n) => n < limit);

describe('property tests', () => {
  it('try the same cases in every run, and report their seed if they fail', () => {
    const [first, second] = [fc.check(below(1000)), fc.check(below(1000))];
    expect(first).toMatchObject({ failed: true, seed: fc.readConfigureGlobal().seed });
    expect(first.counterexamplePath).toBe(second.counterexamplePath);
    expect(() => named.assert(below(1000))).toThrow(`seed: ${first.seed}`);
  });
});

describe('npm run fuzz', () => {
  const fuzz = (...args) =>
    runInGroup(process.execPath, [join(workspaceRoot, 'tests/support/jest/fuzz.mjs'), ...args], {
      cwd: workspaceRoot,
      env: process.env,
      limit: 50,
    });

  it('tries properties with a new seed and ends with 0 if it finds nothing', async () => {
    const { code, output } = await fuzz('--minutes', '0.01', '--only', 'loop/src/canonical-json');
    expect(output).toMatch(/✓ seed \d+: 0 counterexamples/);
    expect(code).toBe(0);
  });

  it('reports the patterns that match no file', async () => {
    const { code, output } = await fuzz('--only', 'no-such-file');
    expect(output).toContain('No spec file with property tests has "no-such-file" in its path.');
    expect(code).toBe(2);
  });
});
