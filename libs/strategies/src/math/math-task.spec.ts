import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readMathTask } from './math-task.js';

const read = (operation: string, args: Readonly<Record<string, unknown>>) => ({ kind: 'read', operation, args });

describe('a task in words', () => {
  it.each([
    ['Solve 3*x + 5 = 20', 'solve', { equations: ['3*x + 5 = 20'] }],
    ['Solve the equation x^2 - 5x + 6 = 0 for x.', 'solve', { equations: ['x^2 - 5x + 6 = 0'], variables: ['x'] }],
    ['solve for y: 2y + x = 7', 'solve', { equations: ['2y + x = 7'], variables: ['y'] }],
    ['Please solve x + y = 3 and x - y = 1', 'solve', { equations: ['x + y = 3', 'x - y = 1'] }],
    ['Solve the system x + y = 3, x - y = 1 for x and y', 'solve', { equations: ['x + y = 3', 'x - y = 1'], variables: ['x', 'y'] }],
    ['Find the roots of x^2 - 2', 'solve', { equations: ['x^2 - 2'] }],
    ['3x + 5 = 20', 'solve', { equations: ['3x + 5 = 20'] }],
    ['x² > 4', 'solve', { equations: ['x² > 4'] }],
    ['Calculate sqrt(16)', 'evaluate', { expression: 'sqrt(16)' }],
    ['What is the square root of 16?', 'evaluate', { expression: 'sqrt 16' }],
    ['17.5 % of 2,340', 'evaluate', { expression: '17.5 % of 2,340' }],
    ['What is 17.5 percent of 2,340?', 'evaluate', { expression: '17.5% of 2,340' }],
    ['Calculate 12 times 7 plus 1', 'evaluate', { expression: '12 * 7 + 1' }],
    ['evaluate x^2 + y for x = 3 and y = 1/2', 'evaluate', { expression: 'x^2 + y', values: { x: '3', y: '1/2' } }],
    ['compute pi to 50 digits', 'evaluate', { expression: 'pi', precision: 50 }],
    ['5!', 'evaluate', { expression: '5!' }],
    ['2+2', 'evaluate', { expression: '2+2' }],
    ['simplify sin(x)**2 + cos(x)**2', 'simplify', { expression: 'sin(x)**2 + cos(x)**2' }],
    ['Expand (x+1)^3', 'expand', { expression: '(x+1)^3' }],
    ['factorise x^2 - 1', 'factor', { expression: 'x^2 - 1' }],
    ['prime factors of 360', 'factor', { expression: '360' }],
    ['integrate x^2 from 0 to 3', 'integrate', { expression: 'x^2', lower: '0', upper: '3' }],
    ['Find the integral of x*exp(x) dx', 'integrate', { expression: 'x*exp(x)', variable: 'x' }],
    ['integral of t^2 with respect to t between 0 and a', 'integrate', { expression: 't^2', variable: 't', lower: '0', upper: 'a' }],
    ['derivative of x^3 sin(x)', 'differentiate', { expression: 'x^3 sin(x)' }],
    ['What is the second derivative of x^4 with respect to x?', 'differentiate', { expression: 'x^4', variable: 'x', order: 2 }],
    ['differentiate x^3 at x = 2', 'differentiate', { expression: 'x^3', variable: 'x', point: '2' }],
    ['d/dx x^2', 'differentiate', { expression: 'x^2', variable: 'x' }],
    ['limit of sin(x)/x as x approaches 0', 'limit', { expression: 'sin(x)/x', variable: 'x', point: '0' }],
    ['lim x->0 sin(x)/x', 'limit', { expression: 'sin(x)/x', variable: 'x', point: '0' }],
    ['limit of 1/x as x -> 0 from the left', 'limit', { expression: '1/x', variable: 'x', point: '0', direction: '-' }],
    ['sum of k^2 for k from 1 to 10', 'sum', { expression: 'k^2', variable: 'k', lower: '1', upper: '10' }],
    ['sum of 1/n^2 from n = 1 to infinity', 'sum', { expression: '1/n^2', variable: 'n', lower: '1', upper: 'infinity' }],
    ['Taylor series of sin(x) around x = 0 up to order 5', 'series', { expression: 'sin(x)', variable: 'x', point: '0', order: 6 }],
    ['determinant of [[1, 2], [3, 4]]', 'determinant', { matrix: '[[1, 2], [3, 4]]' }],
    ['Find the eigenvalues of the matrix [[2,1],[1,2]]', 'eigenvalues', { matrix: '[[2,1],[1,2]]' }],
    ['multiply [[1,2],[3,4]] by [[0,1],[1,0]]', 'multiply', { matrix: '[[1,2],[3,4]]', other: '[[0,1],[1,0]]' }],
    ['Löse 3x + 5 = 20 nach x auf', 'solve', { equations: ['3x + 5 = 20'], variables: ['x'] }],
    ['Löse das Gleichungssystem x + y = 3 und x - y = 1', 'solve', { equations: ['x + y = 3', 'x - y = 1'] }],
    ['Berechne die Wurzel aus 16', 'evaluate', { expression: 'sqrt 16' }],
    ['Wie viel ist 17,5 % von 2.340?', 'evaluate', { expression: '17.5 % von 2340' }],
    ['Berechne 3 hoch 4 mal 2', 'evaluate', { expression: '3^4 * 2' }],
    ['Vereinfache sin(x)^2 + cos(x)^2', 'simplify', { expression: 'sin(x)^2 + cos(x)^2' }],
    ['Integriere x^2 von 0 bis 3', 'integrate', { expression: 'x^2', lower: '0', upper: '3' }],
    ['Bestimme die Stammfunktion von x^2', 'integrate', { expression: 'x^2' }],
    ['Leite x^3 nach x ab', 'differentiate', { expression: 'x^3', variable: 'x' }],
    ['zweite Ableitung von x^4', 'differentiate', { expression: 'x^4', order: 2 }],
    ['Grenzwert von sin(x)/x für x gegen 0', 'limit', { expression: 'sin(x)/x', variable: 'x', point: '0' }],
    ['Summe von k^2 für k von 1 bis 10', 'sum', { expression: 'k^2', variable: 'k', lower: '1', upper: '10' }],
    ['Faktorisiere x^2 - 1', 'factor', { expression: 'x^2 - 1' }],
    ['Multipliziere (x+1)*(x-1) aus', 'expand', { expression: '(x+1)*(x-1)' }],
    ['Determinante der Matrix [[1, 2], [3, 4]]', 'determinant', { matrix: '[[1, 2], [3, 4]]' }],
    ['Primfaktorzerlegung von 360', 'factor', { expression: '360' }],
  ])('is read: %s', (task, operation, args) => {
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
  ])('is not read where it is no mathematics: %.60s', (task) => {
    expect(readMathTask(task)).toMatchObject({ kind: 'unread', sentence: expect.stringContaining('Write the operation') });
  });

  it('is not guessed where a number can be read in two ways', () => {
    expect(readMathTask('Wie viel ist 10 % von 2.340?')).toMatchObject({ kind: 'unread', sentence: expect.stringContaining('2.340') });
    expect(readMathTask('Wie viel ist 10 % von 1.002.340?')).toEqual(read('evaluate', { expression: '10 % von 1002340' }));
  });

  it('is read in bounded time, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('solve ', 'integrate ', 'x', '^2 ', ' from ', ' to ', ' for ', ' and ', '1', ',', '=', ' ', '(', 'von ', ' as x -> '), { maxLength: 400 }),
        (parts) => {
          const from = performance.now();
          expect(['read', 'unread']).toContain(readMathTask(parts.join('')).kind);
          expect(performance.now() - from).toBeLessThan(500);
        },
      ),
      { numRuns: 200 },
    ); // prettier-ignore
  });

  it.each(['for x from 1 to ', '\n', ' = ', ' and y = 2 ', ' as x approaches ', '1.000.', ' plus '])('is read in bounded time where %j is repeated', (unit) => {
    const from = performance.now();
    for (const start of ['integrate ', 'sum of ', 'löse ', 'limit of ', 'calculate ']) readMathTask(`${start}${unit.repeat(3_900 / unit.length)} = `);
    expect(performance.now() - from).toBeLessThan(3_000);
  }); // prettier-ignore
});
