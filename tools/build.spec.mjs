import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { stampsOf } from './build.mjs';
import { workspaceRoot } from './workspace.mjs';

mkdirSync(join(workspaceRoot, '.results'), { recursive: true });
const folder = mkdtempSync(join(workspaceRoot, '.results/build-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file that was last changed at this second since 1970. */
function changedAt(second) {
  const file = join(folder, `${second}.ts`);
  writeFileSync(file, '');
  utimesSync(file, second, second);
  return relative(workspaceRoot, file);
}

describe('the record of a build', () => {
  it('trusts no file that changed during the build, so that the next build reads it again', () => {
    const [before, during, later] = [1_000, 1_005, 2_000].map(changedAt);
    // A clock may be behind that of the file system: such a file did not change during the build.
    expect(stampsOf([before, during, later], 1_001_000, 1_010_000)).toEqual({ [before]: 1_000_000, [during]: null, [later]: 2_000_000 });
  });
});
