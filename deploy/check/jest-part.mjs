import { mkdtempSync, readFileSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs one spec file of this folder, with built programs. It notes what it found as lines of the file in CHECK_FACTS. Throws where a test
 * fails.
 */
export async function runSpec(name, fact) {
  const root = path.resolve(import.meta.dirname, '../..');
  const folder = mkdtempSync(path.join(tmpdir(), 'conclave-check-'));
  const facts = path.join(folder, 'facts');
  const step = async (args) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, CHECK_FACTS: facts } });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`${args.join(' ')} ended with code ${code}.`);
  };
  try {
    await step(['tools/build.mjs']);
    await step(['node_modules/jest/bin/jest.js', `deploy/check/${name}`, '--roots', 'deploy', '--maxWorkers=1']);
    if (existsSync(facts)) for (const line of readFileSync(facts, 'utf8').trim().split('\n')) fact(line);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
