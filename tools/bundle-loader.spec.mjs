import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { workspaceRoot } from './workspace.mjs';

const program = 'exports.start = (entry) => console.log(JSON.stringify({ entry, url: $moduleUrl, __dirname }));\n';
let folder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-bundle-'));
  writeFileSync(join(folder, 'program.cjs'), program);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the program in a process of its own, as its users do; says whether V8 took the kept machine code. */
function start() {
  const loader = pathToFileURL(join(workspaceRoot, 'tools/bundle-loader.mjs')).href;
  const main = pathToFileURL(join(folder, 'main.js')).href;
  const text = `const { exports, script } = (await import('${loader}')).loadProgram('${main}', 'kept.cache');
exports.start('${main}'); console.log(JSON.stringify(script.cachedDataRejected ?? null));`;
  const [said, rejected] = execFileSync(process.execPath, ['--input-type=module', '-e', text], { encoding: 'utf8', timeout: 20_000 })
    .trim()
    .split('\n');
  return { said: JSON.parse(said), rejected: JSON.parse(rejected), main };
}
const keep = () => execFileSync(process.execPath, [join(workspaceRoot, 'tools/code-cache.mjs'), folder, 'kept.cache'], { timeout: 20_000 });

describe('a bundled program', () => {
  it('runs without kept machine code, and knows where it lies', () => {
    const { said, rejected, main } = start();
    expect(said).toEqual({ entry: main, url: main, __dirname: folder });
    expect(rejected).toBeNull();
  });

  it('runs from the machine code that was kept', () => {
    keep();
    expect(start()).toMatchObject({ rejected: false, said: { __dirname: folder } });
  });

  it('runs where V8 refuses what was kept, such as that of another Node', () => {
    writeFileSync(join(folder, 'kept.cache'), Buffer.alloc(64, 1));
    expect(start()).toMatchObject({ rejected: true, said: { __dirname: folder } });
  });
});
