import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { workspaceRoot } from './workspace.mjs';

/** Folders in Git, three levels deep like `tree -d -L 3`, without the `src` of packages. */
function folders() {
  const files = execFileSync('git', ['ls-files'], { cwd: workspaceRoot, encoding: 'utf8', timeout: 20_000 }).trim().split('\n');
  const found = files.flatMap((file) => {
    const parts = file.split('/').slice(0, -1);
    return [1, 2, 3].filter((depth) => depth <= parts.length).map((depth) => parts.slice(0, depth).join('/'));
  });
  return [...new Set(found)].filter((folder) => !folder.endsWith('/src')).sort();
}

describe('the README', () => {
  it('describes every folder, and no missing one', () => {
    const rows = readFileSync(`${workspaceRoot}/README.md`, 'utf8').matchAll(/^\| `([\w./-]+?)\/?` \| (.+) \|$/gm);
    expect([...rows].map(([, folder]) => folder).sort()).toEqual(folders());
  });
});
