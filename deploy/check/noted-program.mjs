import { mkdtempSync, readFileSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs Node programs, given as lists of arguments, one after the other. They write their findings as lines to the file in CHECK_FACTS. The
 * lines become facts even if a program fails; then this throws.
 */
async function runNoted(programs, fact) {
  const root = path.resolve(import.meta.dirname, '../..');
  const folder = mkdtempSync(path.join(tmpdir(), 'conclave-check-'));
  const facts = path.join(folder, 'facts');
  try {
    for (const args of programs) {
      const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, CHECK_FACTS: facts } });
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`${args.join(' ')} ended with code ${code}.`);
    }
  } finally {
    if (existsSync(facts)) for (const line of readFileSync(facts, 'utf8').trim().split('\n')) fact(line);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs one spec file of this folder, with built programs. */
export const runSpec = (name, fact) =>
  runNoted([['tools/build.mjs'], ['node_modules/jest/bin/jest.js', `deploy/check/${name}`, '--roots', 'deploy', '--maxWorkers=1']], fact);

/** Builds and runs a program of the workspace. */
export const runProgram = (name, fact) => runNoted([['tools/run.mjs', name]], fact);
