import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { silentLogger } from '@conclave/platform';
import type { Symbolic } from '@conclave/ports';
import { until } from '@conclave/test-support';
import { LineProcess } from './process/line-process.js';
import { openSymbolic } from './open-symbolic.js';

// A busy machine gives a process little time.
jest.setTimeout(60_000);
const assets = fileURLToPath(new URL('./assets/symbolic', import.meta.url));
const python = '/usr/bin/python3';
const never = new AbortController().signal;
const open: Symbolic[] = [];
afterAll(() => Promise.all(open.map((one) => one.close())), 30_000);

function symbolicWith(more: { memoryMb?: number; seconds?: number; python?: string; candidates?: readonly string[] } = {}): Symbolic {
  const made = openSymbolic({ memoryMb: 512, seconds: 10, logger: silentLogger, ...more });
  open.push(made);
  return made;
}
const evaluate = (from: Symbolic, expression: string) => from.evaluate({ operation: 'evaluate', args: { expression }, signal: never });
const worker = () => LineProcess.start({ file: python, args: ['-I', '-B', `${assets}/sympy-worker.py`, '512'], readyWithinMs: 30_000 });
/** Processes of the worker, by their command lines. */
const workers = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${assets}/sympy-worker.py`);
      } catch {
        return false;
      }
    });

describe('the process of SymPy', () => {
  it('may only calculate, even if code runs in it', () => {
    const attempts = [
      `__import__('os').system('id')`,
      `eval('1+1')`,
      `exec('x = 1')`,
      `compile('1', '<text>', 'eval')`,
      `open('/etc/passwd')`,
      `open('/tmp/conclave-guard', 'w')`,
      `__import__('subprocess').run(['id'])`,
      `__import__('os').fork()`,
      `__import__('os').execv('/bin/id', ['id'])`,
      `__import__('os').kill(1, 0)`,
      `__import__('socket').create_connection(('127.0.0.1', 9))`,
      `__import__('os').remove('/tmp/conclave-guard')`,
      `__import__('ctypes').CDLL(None)`,
      `sympy.sympify('x + 1')`,
      `sympy.sympify("__import__('os').system('id')")`,
      `sympy.lambdify(sympy.Symbol('x'), sympy.Symbol('x') + 1)`,
      `parse_expr('x + 1')`,
    ];
    const code = `import sys; sys.path.insert(0, ${JSON.stringify(assets)})
import sympy, guard, socket, ctypes, subprocess
from sympy.parsing import sympy_parser
from sympy.parsing.sympy_parser import parse_expr
attempts = [${attempts.map((attempt) => `lambda: ${attempt}`).join(',\n')}]
guard.limit_system(512)
guard.close_parser(sympy_parser, sympy.Rational)
guard.close()
for attempt in attempts:
    try:
        attempt()
        print('done')
    except guard.Refused as event:
        print('refused', event)
    except BaseException as error:
        print(type(error).__name__, error)`;
    const { stdout, stderr } = spawnSync(python, ['-I', '-B', '-c', code], { encoding: 'utf8', env: {}, timeout: 60_000 });
    const outcomes = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line, n) => [attempts[n], line.split(' ')[0]]),
    );
    expect([stderr, outcomes]).toEqual(['', Object.fromEntries(attempts.map((attempt) => [attempt, 'refused']))]);
  });

  it('has no environment, no arguments of the user, and limits of the system', async () => {
    const { process } = await worker();
    const [pid] = workers().slice(-1);
    expect(
      readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .filter((one) => one !== '' && !one.startsWith('LC_CTYPE=')),
    ).toEqual([]);
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    expect(limits).toMatch(/Max address space\s+536870912\s+536870912/);
    expect(limits).toMatch(/Max file size\s+0\s+0/);
    expect(limits).toMatch(/Max cpu time\s+\d+ /);
    await process.kill();
  });

  it('builds only the nodes it knows, whatever it receives', async () => {
    const { process } = await worker();
    const x = { kind: 'symbol', name: 'x' };
    for (const expression of [
      { kind: 'symbol', name: '__import__' },
      { kind: 'symbol', name: "x'); import os; ('" },
      { kind: 'number', value: '__import__("os")' },
      { kind: 'number', value: '1e999999999' },
      { kind: 'call', name: 'sympify', args: [x] },
      { kind: 'call', name: '__class__', args: [x] },
      { kind: 'eval', text: '1+1' },
      'x + 1',
      null,
    ])
      expect([
        expression,
        await process.ask({ seconds: 5, job: { operation: 'evaluate', precision: 15, values: [], expression } }, { withinMs: 20_000 }),
      ]).toMatchObject([expression, { ok: false }]);
    expect(
      await process.ask({ seconds: 5, job: { operation: 'simplify', precision: 15, expression: x } }, { withinMs: 20_000 }),
    ).toMatchObject({ ok: true, result: 'x' });
    await process.kill();
  });

  it('ends with the process that started it', async () => {
    const before = workers();
    const code = `const { spawn } = require('node:child_process');
      const child = spawn(${JSON.stringify(python)}, ['-I', '-B', ${JSON.stringify(`${assets}/sympy-worker.py`)}, '512'], { stdio: ['pipe', 'pipe', 'inherit'] });
      child.stdout.once('data', () => process.kill(process.pid, 'SIGKILL'));`;
    spawnSync(process.execPath, ['-e', code], { timeout: 60_000 });
    await until('the end of the worker', () => workers().every((pid) => before.includes(pid)), { timeoutMs: 20_000 });
  });

  it('stops at its memory and time limits, and the next question is served', async () => {
    const symbolic = symbolicWith({ memoryMb: 200, seconds: 2 });
    await evaluate(symbolic, '1+1');
    const heavy = symbolic.evaluate({
      operation: 'expand',
      args: { expression: '(x + y + z + w + 1)^80 (x - y + 2 z - w + 3)^80' },
      signal: never,
    });
    const from = performance.now();
    await expect(heavy).rejects.toMatchObject({ code: 'MATH_LIMIT' });
    expect(performance.now() - from).toBeLessThan(6_000);
    expect((await evaluate(symbolic, '2+2')).result).toBe('4');
  });

  it('is replaced when it is killed', async () => {
    const before = workers();
    const symbolic = symbolicWith();
    await evaluate(symbolic, '1+1');
    for (const pid of workers().filter((one) => !before.includes(one))) process.kill(pid, 'SIGKILL');
    const results = [];
    for (let n = 0; n < 3; n += 1)
      results.push(
        await evaluate(symbolic, '2+2').then(
          ({ result }) => result,
          (error: { code: string }) => error.code,
        ),
      );
    expect(results.slice(1)).toEqual(['4', '4']);
    expect(['4', 'MATH_LIMIT']).toContain(results[0]);
  });
});

describe('a configured Python', () => {
  it('is used; if it is missing, another one calculates', async () => {
    expect(await symbolicWith({ python }).backend()).toMatch(/^sympy /);
    const nowhere = symbolicWith({ python: '/nowhere/python3', candidates: [python] });
    expect(await evaluate(nowhere, '1')).toMatchObject({ result: '1', backend: expect.stringMatching(/^sympy /) });
    expect(await nowhere.health()).toBeNull();
  });
});
