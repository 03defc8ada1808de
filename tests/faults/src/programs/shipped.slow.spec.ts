import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { workspaceRoot } from '@conclave/test-support/system';
import { protectionNames } from './protections.js';

const dist = (name: string): string => join(workspaceRoot, 'dist', name);
const apps = ['gateway', 'planner', 'experts', 'merger', 'graph-ingest', 'standalone'];
/**
 * Names in the code of every switch. A protection's name is also a word of the product, but there it is not beside a set of disabled ones.
 */
const switches = [
  'CRASH_AT',
  'FREEZE_AT',
  'WITHOUT_PROTECTION',
  'HISTORY_FILE',
  'SIGSTOP',
  ...protectionNames.map((name) => `off.has("${name}")`),
];

/** Text of every file that a program can import, at its start or later. */
function textOf(program: string): string {
  const files = [program];
  for (const file of files) {
    const text = readFileSync(dist(file), 'utf8');
    for (const [, name] of text.matchAll(/["']\.\/([\w.-]+\.js)["']/g))
      if (!files.includes(name!) && existsSync(dist(name!))) files.push(name!);
  }
  return files.map((file) => readFileSync(dist(file), 'utf8')).join('\n');
}
const switchesIn = (program: string): readonly string[] => {
  const text = textOf(program);
  return switches.filter((name) => text.includes(name));
};

describe('the shipped programs', () => {
  beforeAll(() => {
    const { status, stderr } = spawnSync(process.execPath, [join(workspaceRoot, 'tools/build.mjs')], {
      encoding: 'utf8',
      timeout: 170_000,
    });
    if (status !== 0) throw new Error(stderr);
  }, 180_000);

  it.each([...apps, 'distributed'])('contain no switch that ends a process or removes a protection: %s', (app) => {
    expect(switchesIn(`${app}.js`)).toEqual([]);
  });

  it('each have a second program, which contains all of the switches', () => {
    for (const app of apps) expect([app, switchesIn(`${app}.faults.js`)]).toEqual([app, switches]);
  });

  it('are built without the fault programs for an image', () => {
    const dockerfile = readFileSync(join(workspaceRoot, 'Dockerfile'), 'utf8');
    expect(dockerfile).toMatch(/tools\/build\.mjs apps\b/);
    expect(readdirSync(join(workspaceRoot, 'apps'), { recursive: true }).filter((path) => /\.faults\.ts$/.test(String(path)))).toEqual([]);
  });
});
