import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { wordings } from './__fixtures__/wordings.js';
import { readMathTask } from './math-task.js';

const read = (operation: string, args: Readonly<Record<string, unknown>>) => ({ kind: 'read', operation, args });

describe('a task in words', () => {
  it.each(wordings)('is read: %s', (task, operation, args) => {
    expect(readMathTask(task)).toEqual(read(operation, args));
  });

  it.each([
    '',
    'hello',
    'What is the capital of France?',
    'Solve the housing crisis',
    'Calculate the distance to the moon',
    'Was ist ein Vertrag?',
    'integrate the payment service',
    'sum of all fears',
    'expand our team in 2024',
    "__import__('os').system('id')",
    'simplify this contract, please',
    'x'.repeat(1_000_000),
  ])('is not read when it is not mathematics: %.60s', (task) => {
    expect(readMathTask(task)).toMatchObject({ kind: 'unread', sentence: expect.stringContaining('Write the operation') });
  });

  it('is not guessed when a number can be read in two ways', () => {
    expect(readMathTask('Wie viel ist 10 % von 2.340?')).toMatchObject({ kind: 'unread', sentence: expect.stringContaining('2.340') });
    expect(readMathTask('Wie viel ist 10 % von 1.002.340?')).toEqual(read('evaluate', { expression: '10 % von 1002340' }));
  });

  it('is read in bounded time, whatever it contains', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            'solve ',
            'integrate ',
            'x',
            '^2 ',
            ' from ',
            ' to ',
            ' for ',
            ' and ',
            '1',
            ',',
            '=',
            ' ',
            '(',
            'von ',
            ' as x -> ',
          ),
          { maxLength: 400 },
        ),
        (parts) => {
          const before = process.cpuUsage();
          expect(['read', 'unread']).toContain(readMathTask(parts.join('')).kind);
          expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each(['for x from 1 to ', '\n', ' = ', ' and y = 2 ', ' as x approaches ', '1.000.', ' plus '])(
    'is read in bounded time when %j is repeated',
    (unit) => {
      const before = process.cpuUsage();
      for (const start of ['integrate ', 'sum of ', 'löse ', 'limit of ', 'calculate '])
        readMathTask(`${start}${unit.repeat(3_900 / unit.length)} = `);
      expect(process.cpuUsage(before).user / 1_000).toBeLessThan(3_000);
    },
  );
});
