import { afterAll, describe, expect, it } from '@jest/globals';
import { silentLogger } from '@conclave/platform';
import { openSymbolic } from './open-symbolic.js';

const symbolic = openSymbolic({ memoryMb: 256, seconds: 10, logger: silentLogger, prefer: 'compute-engine' });
afterAll(() => symbolic.close(), 30_000);
const { signal } = new AbortController();

describe('mathematics without Python', () => {
  it('is calculated by the Compute Engine, which is said', async () => {
    expect(await symbolic.evaluate({ operation: 'evaluate', args: { expression: 'sqrt(16) + 1/2' }, signal })).toEqual({
      ...{ result: '9/2', decimal: '4.5', latex: null, solutions: null, notes: [] },
      engine: expect.stringMatching(/^compute-engine \d/),
    });
    expect((await symbolic.evaluate({ operation: 'solve', args: { expression: 'x^2 = 2,25' }, signal })).notes).toEqual([
      '2,25 is read as 2.25.',
      'Each solution was checked; whether there are others was not.',
    ]);
  }, 60_000);

  it('is what is left where no Python is there, or none that has SymPy', async () => {
    const without = openSymbolic({ memoryMb: 256, seconds: 10, logger: silentLogger, candidates: ['/nowhere/python3', process.execPath] });
    try {
      expect(await without.evaluate({ operation: 'evaluate', args: { expression: '2^10' }, signal })).toMatchObject({
        result: '1024',
        engine: expect.stringMatching(/^compute-engine \d/),
      });
    } finally {
      await without.close();
    }
  }, 60_000);

  it.each([
    ['rank', { matrix: [[1]] }],
    ['rref', { matrix: [[1]] }],
    ['series', { expression: 'sin(x)' }],
    ['factor', { expression: '360' }],
    ['solve', { expression: 'x < 1' }],
  ] as const)('does not do %s %j, and says that SymPy does', async (operation, args) => {
    await expect(symbolic.evaluate({ operation, args, signal })).rejects.toMatchObject({
      code: 'MATH_UNSUPPORTED',
      detail: expect.stringContaining('Install SymPy'),
    });
  });
});
