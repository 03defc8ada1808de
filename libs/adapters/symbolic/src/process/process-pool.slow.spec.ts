import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Failure } from '@conclave/contracts';
import { until } from '@conclave/test-support';
import { LineProcess, type LineReply } from './line-process.js';
import { ProcessPool } from './process-pool.js';

/** Does what the `act` of each question says. */
const program = `
const out = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, act } = JSON.parse(line);
  if (act === 'who') out({ id, pid: process.pid, env: Object.keys(process.env), cwd: process.cwd() });
  if (act === 'hang') for (;;);
  if (act === 'abort') process.abort();
  if (act === 'exit') process.exit(3);
  if (act === 'last') {
    out({ id, last: true });
    process.stdin.pause();
    setTimeout(() => process.exit(0), 300);
  }
  if (act === 'nonsense') process.stdout.write('Segmentation fault\\n');
  if (act === 'other') out({ id: id + 1 });
  if (act === 'flood') process.stdout.write('9'.repeat(5_000_000));
});
out({ ready: '1' });`;

const never = new AbortController().signal;
const open: ProcessPool[] = [];
const replaced: string[] = [];
function pool(more: { processes?: number; calculationMs?: number; file?: string } = {}): ProcessPool {
  const { processes = 1, calculationMs = 20_000, file = process.execPath } = more;
  const made = new ProcessPool({
    program: { file, args: ['-e', program], readyWithinMs: 20_000 },
    ...{ processes, calculationMs, onReplaced: (how) => replaced.push(how) },
  });
  open.push(made);
  return made;
}
afterEach(async () => {
  for (const made of open.splice(0)) await made.close();
  replaced.length = 0;
});
const who = (from: ProcessPool): Promise<LineReply> => from.ask({ act: 'who' }, { signal: never });
const alive = (pid: unknown): boolean => {
  try {
    return process.kill(pid as number, 0);
  } catch {
    return false;
  }
};

describe('a pool of processes', () => {
  it('asks nothing more of a process that has sent its last reply', async () => {
    const one = pool();
    expect(await one.ask({ act: 'last' }, { signal: never })).toMatchObject({ last: true });
    expect(await who(one)).toMatchObject({ id: 1 });
  });

  it('reuses one process, which has no environment and its own folder, removed at its end', async () => {
    const made = pool();
    const first = await who(made);
    expect(first).toMatchObject({ env: [], cwd: expect.stringContaining('conclave-math-') });
    expect((await who(made))['pid']).toBe(first['pid']);
    await made.close();
    expect(alive(first['pid'])).toBe(false);
    expect(existsSync(first['cwd'] as string)).toBe(false);
  });

  it.each([
    ['abort', 'SIGABRT'],
    ['exit', 'exit code 3'],
    ['nonsense', 'no reply'],
    ['other', 'another question'],
    ['flood', 'no reply'],
  ])('stays usable if its process does: %s', async (act, words) => {
    const made = pool();
    const { pid } = await who(made);
    await expect(made.ask({ act }, { signal: never })).rejects.toMatchObject({
      code: 'MATH_LIMIT',
      detail: expect.stringContaining(words),
    });
    const after = await who(made);
    expect(after['pid']).not.toBe(pid);
    expect(alive(pid)).toBe(false);
    expect(replaced).toEqual(['a calculation ended it']);
  });

  it('ends a process when its time is over, and when its question is cancelled', async () => {
    const made = pool({ calculationMs: 100 });
    const { pid } = await who(made);
    await expect(made.ask({ act: 'hang' }, { signal: never })).rejects.toMatchObject({
      code: 'MATH_LIMIT',
      detail: expect.stringContaining('end of its time'),
    });
    expect(alive(pid)).toBe(false);
    const leaving = new AbortController();
    const asked = pool().ask({ act: 'hang' }, { signal: leaving.signal });
    setTimeout(() => leaving.abort(), 50);
    await expect(asked).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  });

  it('asks no more processes at once than allowed, and lets waiting callers leave', async () => {
    const made = pool({ processes: 2 });
    const pids = new Set((await Promise.all(Array.from({ length: 6 }, () => who(made)))).map(({ pid }) => pid));
    expect(pids.size).toBeLessThanOrEqual(2);
    const leaving = new AbortController();
    const hanging = [1, 2].map(() => made.ask({ act: 'hang' }, { signal: leaving.signal }));
    const waiting = made.ask({ act: 'who' }, { signal: never, timeoutMs: 30 });
    await expect(waiting).rejects.toMatchObject({ code: 'MATH_LIMIT', detail: expect.stringContaining('before a process was free') });
    const also = new AbortController();
    const another = made.ask({ act: 'who' }, { signal: also.signal });
    also.abort();
    await expect(another).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    leaving.abort();
    for (const one of await Promise.allSettled(hanging))
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'CALL_CANCELLED' } });
    expect(await who(made)).toMatchObject({ env: [] });
  });

  it('says why a process does not start', async () => {
    await expect(who(pool({ file: '/nowhere/python3' }))).rejects.toMatchObject({
      code: 'MATH_UNAVAILABLE',
      detail: expect.stringContaining('ENOENT'),
    });
    const broken = LineProcess.start({ file: process.execPath, args: ['-e', 'throw new Error("no such module")'], readyWithinMs: 20_000 });
    await expect(broken).rejects.toMatchObject({ reason: 'ended' });
  });

  it('ends running work when it is closed', async () => {
    const made = pool();
    const { pid } = await who(made);
    const asked = made.ask({ act: 'hang' }, { signal: never }).catch((error: unknown) => error);
    const waiting = made.ask({ act: 'who' }, { signal: never }).catch((error: unknown) => error);
    await made.close();
    for (const one of [await asked, await waiting]) expect((one as Failure).code).toBe('MATH_UNAVAILABLE');
    await until('the end', () => !alive(pid));
  });
});
