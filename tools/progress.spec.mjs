import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { runInGroup } from './process-group.mjs';
import { projectOutcome } from './results.mjs';
import { workspaceRoot } from './workspace.mjs';

const folders = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** Runs a project of one spec file the way every project is run, and gives what was printed and how it is counted. */
async function runProject(source, limits) {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-progress-'));
  folders.push(folder);
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'jest.config.mjs'), `export { default } from ${JSON.stringify(join(workspaceRoot, 'jest.preset.mjs'))};`);
  writeFileSync(join(folder, 'src/waits.spec.ts'), `import { spawn, spawnSync } from 'node:child_process';\n${source}`);
  const result = await runInGroup(process.execPath, [join(workspaceRoot, 'tools/jest.mjs'), 'fast', '--colors=false'], {
    cwd: folder,
    env: { ...process.env, ...limits },
    limit: 50,
  });
  return { ...result, counted: projectOutcome(relative(workspaceRoot, folder), 'fast') };
}

describe('a run of Jest that hangs', () => {
  it('is ended, and names the process that a test left behind', async () => {
    const leaves = `it('passes', () => { spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'left behind']); });`;
    const { code, timedOut, output, counted } = await runProject(leaves, { TEST_END_LIMIT_S: '2' });
    expect([code, timedOut]).toEqual([1, false]);
    expect(output).toMatch(/Jest did not end: a test left something open; still alive: .*left behind \(process \d+\)/);
    expect(counted).toMatchObject({ passed: 1, failures: [expect.stringContaining('left behind')] });
  });

  it('is ended at its limit, and names the file and the test that waits, although that blocks its whole process', async () => {
    const waits = `describe('a thing', () => { it('waits', () => { spawnSync('sleep', ['60']); }, 1_000); });`;
    const { code, timedOut, output, counted } = await runProject(waits, { TEST_LIMIT_S: '6' });
    expect([code, timedOut]).toEqual([1, false]);
    const named = /src\/waits\.spec\.ts was still at the test "a thing waits", for \d+ s\./;
    expect(output).toMatch(named);
    expect(counted).toMatchObject({ passed: 0, failures: [expect.stringMatching(named)] });
  });

  it('is not spoken of when it ends by itself', async () => {
    const { code, counted } = await runProject(`it('passes', () => {});`, {});
    expect([code, counted]).toEqual([0, { passed: 1, failures: [], skipped: 0 }]);
  });
});
