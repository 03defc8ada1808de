import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { until } from '@conclave/ports/suites';
import { openCrashPoints } from './crash-point.js';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'conclave-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const loader = here('../../../support/typescript-loader.mjs');
const programArguments = ['--no-warnings', '--import', loader, here('./__fixtures__/crash-child.ts')];

/** Upper bound of every wait for a process, in milliseconds. */
const boundMs = 20_000;

const started: ChildProcess[] = [];
// A frozen process reacts to no other signal and would keep Jest waiting.
afterEach(() => started.splice(0).forEach((program) => program.kill('SIGKILL')));

/** Starts a process that passes the points; resolves with its output and exit once both are complete. */
function startChild(environment: Record<string, string>) {
  const program = spawn(process.execPath, programArguments, { env: { ...process.env, ...environment } });
  started.push(program);
  const seen: { said: string; end: [code: number | null, signal: NodeJS.Signals | null] | null } = { said: '', end: null };
  program.stdout.on('data', (chunk: Buffer) => (seen.said += chunk.toString()));
  program.on('close', (...end) => (seen.end = end));
  return { program, seen };
}

/** A process that passes `merger:after-commit` and `experts:after-call` five times each, in turn. */
function child(crashAt: string | undefined) {
  const history = join(folder, `${crashAt ?? 'none'}.ndjson`.replaceAll(/[:#]/g, '-'));
  const { signal, stdout, status } = spawnSync(process.execPath, programArguments, {
    encoding: 'utf8',
    timeout: boundMs,
    env: { ...process.env, HISTORY_FILE: history, ...(crashAt ? { CRASH_AT: crashAt } : {}) },
  });
  const lines = existsSync(history) ? readFileSync(history, 'utf8').trim().split('\n') : [];
  return { signal, status, said: stdout.trim().split('\n'), history: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('a crash point', () => {
  it('kills the process at the first hit, with a line of history before it', () => {
    const { signal, said, history } = child('merger:after-commit');
    expect(signal).toBe('SIGKILL');
    expect(said).toEqual(['before 1']);
    expect(history).toEqual([
      expect.objectContaining({ actor: 'merger', op: 'after-commit', phase: 'crash', id: 'event-1', process: 'child' }),
    ]);
  });

  it('waits for the n-th hit', () => {
    const { signal, said, history } = child('experts:after-call#3');
    expect(signal).toBe('SIGKILL');
    expect(said).toEqual(['before 1', 'before 2', 'before 3']);
    expect(history.map(({ id }) => id)).toEqual(['call-3']);
  });

  it('does nothing to another service or point', () => {
    const { signal, status, said, history } = child('planner:after-commit');
    expect([signal, status]).toEqual([null, 0]);
    expect(said.at(-1)).toBe('end');
    expect(history).toEqual([]);
  });

  it('freezes the process at the hit that FREEZE_AT names, until it is woken', async () => {
    const file = join(folder, 'freeze.ndjson');
    const { program, seen } = startChild({ HISTORY_FILE: file, FREEZE_AT: 'merger:after-commit#2' });
    const state = (): string =>
      spawnSync('ps', ['-o', 'state=', '-p', String(program.pid)], { encoding: 'utf8', timeout: boundMs }).stdout.trim();
    await until('it is stopped', () => existsSync(file) && state().startsWith('T'), boundMs);
    // Its earlier output is in the pipe and arrives a moment later.
    await until('what it said has arrived', () => seen.said.includes('before 2'), boundMs);
    expect(seen.said).toBe('before 1\nbefore 2\n');
    expect(readFileSync(file, 'utf8')).toContain('"op":"after-commit","phase":"freeze","id":"event-2"');
    program.kill('SIGCONT');
    await until('it has ended', () => seen.end !== null, boundMs);
    expect(seen.end).toEqual([0, null]);
    expect(seen.said).toContain('end');
  }, 60_000);

  it('is refused if no point has that name', () => {
    expect(() => openCrashPoints('merger:lunch', () => {})).toThrow('CRASH_AT');
  });
});
