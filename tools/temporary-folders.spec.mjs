import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { workspaceRoot } from './workspace.mjs';

describe('a spec that makes a temporary folder', () => {
  it('removes folders, too: one that is left behind at each run fills the disk of a machine that runs them often', () => {
    const listed = execFileSync('git', ['ls-files', '*.spec.ts', '*.spec.mjs'], { cwd: workspaceRoot, encoding: 'utf8', timeout: 20_000 });
    const specs = listed.split('\n').filter(Boolean);
    const making = specs
      .map((path) => ({ path, text: readFileSync(join(workspaceRoot, path), 'utf8') }))
      .filter(({ text }) => /\bmkdtemp(?:Sync)?\(/.test(text));
    expect(making.length).toBeGreaterThan(20);
    expect(making.filter(({ text }) => !/\brm(?:Sync)?\(/.test(text)).map(({ path }) => path)).toEqual([]);
  });
});
