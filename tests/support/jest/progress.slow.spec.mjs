import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { jest as program, runJest } from './run.mjs';
import { workspaceRoot } from '../../../tools/workspace.mjs';

jest.setTimeout(150_000);

const folders = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** Runs spec files the way those of every project are run, and returns their results. */
async function run(sources, limits = {}, workers = '--maxWorkers=2') {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-progress-'));
  folders.push(folder);
  for (const [name, source] of Object.entries(sources))
    writeFileSync(join(folder, name), `import { spawn, spawnSync } from 'node:child_process';\n${source}`);
  const name = basename(folder);
  const args = [program, '--json', `--outputFile=.results/${name}.json`, '--roots', folder, workers, '--colors=false'];
  const options = { cwd: workspaceRoot, env: { ...process.env, TEST_LEVEL: 'fast' }, limit: 50, expected: Object.keys(sources).length };
  try {
    return await runJest(name, args, { ...options, ...limits });
  } finally {
    for (const ending of ['json', 'progress.json']) rmSync(join(workspaceRoot, `.results/${name}.${ending}`), { force: true });
  }
}

/** The run of a file that hangs. A busy machine has not even loaded the file at the first limit, so that the limit is doubled then. */
async function endedOnceLoaded(sources, limit = 12) {
  const ended = await run(sources, { limit });
  const loading = ended.failures.some((failure) => /waits\.spec\.ts was still being loaded/.test(failure));
  return loading && limit < 48 ? endedOnceLoaded(sources, limit * 2) : ended;
}

const passes = `it('passes', () => {});`;
const leaves = `it('passes', () => { spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'left behind']); });`;
const waits = `describe('a thing', () => { it('waits', () => { spawnSync('sleep', ['60']); }, 1_000); });`;

describe('a run of Jest that hangs', () => {
  it('is ended, and names the process that a test left behind', async () => {
    const { code, timedOut, passed, failures } = await run({ 'leaves.spec.ts': leaves }, { endLimit: 2 }, '--runInBand');
    expect([code, timedOut, passed]).toEqual([1, true, 1]);
    expect(failures).toEqual([
      'All spec files were finished, but Jest did not end: a test left something open.',
      expect.stringMatching(/^Still alive at the end: .*left behind \(process \d+\)/),
    ]);
  });

  it('is ended at its time limit, and names the file and the waiting test, even if that test blocks its whole process', async () => {
    // Once as the only file, and once as one of two that run together. Both wait for their limit at the same time.
    const sources = [{ 'waits.spec.ts': waits }, { 'waits.spec.ts': waits, 'passes.spec.ts': passes }];
    for (const { code, timedOut, failures } of await Promise.all(sources.map((one) => endedOnceLoaded(one)))) {
      expect([code, timedOut]).toEqual([1, true]);
      expect(failures).toContainEqual(expect.stringMatching(/waits\.spec\.ts was still at the test "a thing waits", for \d+ s\.$/));
      expect(failures).toContainEqual(expect.stringMatching(/^Still alive at the end: .*sleep 60 \(process \d+\)/));
    }
  });

  it('is not mentioned if it ends by itself', async () => {
    expect(await run({ 'passes.spec.ts': passes })).toMatchObject({ code: 0, passed: 1, failures: [], skipped: 0, left: [] });
  });
});

it('lists the process that a test of several files left behind, although Jest ends its own processes', async () => {
  const { timedOut, passed, failures } = await run({ 'leaves.spec.ts': leaves, 'passes.spec.ts': passes });
  expect([timedOut, passed]).toEqual([false, 2]);
  expect(failures).toEqual([expect.stringMatching(/^Still alive at the end: .*left behind \(process \d+\)/)]);
});
