import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Symbolic, SymbolicArgs, SymbolicOperation } from './symbolic.js';
import { valueOf } from './value-of.js';

export interface SymbolicUnderTest {
  /** Opens a new adapter. It may be slow to start; the suite starts two. */
  open(): Promise<Symbolic>;
  /** Beginning of the name in `backend` of its results, such as `sympy `. */
  readonly backend: string;
}

const never = new AbortController().signal;
const points = [0.4, 1.3, 2.7];

/** Texts that attack a parser or an evaluator. */
export const hostileTexts: readonly string[] = [
  `__import__('os').system('id')`,
  'abort()',
  '().__class__.__subclasses__()',
  '().__class__.__bases__[0].__subclasses__()[104]',
  'lambda x: x',
  'lambda: 1',
  `eval("1+1")`,
  `exec('import os')`,
  `open('/etc/passwd').read()`,
  `"quoted"`,
  `'x'`,
  '`id`',
  '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>',
  '$(id)',
  '${process.exit()}',
  'x.__class__',
  'x; import os',
  'import os',
  '[x for x in range(9)]',
  '{"$ne": 1}',
  'constructor',
  '__proto__',
  'toString()',
  'sin.constructor("return 1")()',
  'x = 1',
  'x == y == z',
  '\u0000',
  '1\u202e2',
  '\ud800',
  '(' + 'x',
  'x)',
  '1..2',
  '5 5',
  'sin(1, 2)',
  'max()',
  '1/0',
  'x/(1-1)',
  '0^-1',
  'ln(0)',
  '',
  '   ',
  'x'.repeat(1_000_000),
  '('.repeat(5_000) + 'x' + ')'.repeat(5_000),
  '('.repeat(1_900) + 'x' + ')'.repeat(1_900),
  '-'.repeat(3_000) + '1',
  '9'.repeat(3_000),
  '2^'.repeat(1_500) + '2',
  'sin('.repeat(500) + 'x' + ')'.repeat(500),
];

/** Texts that demand too much time, memory or output. */
export const giantTexts: readonly string[] = [
  '9**9**9',
  '9^9^9^9',
  'factorial(10**9)',
  '(10^9)!',
  '2^(3^(4^5))',
  '(1/3)^(10^12)',
  'binomial(10^12, 10^11)',
];

/** Every promise of `Symbolic`, for what each back end supports: results are compared by value. */
export function describeSymbolic(name: string, { open, backend }: SymbolicUnderTest): void {
  describe(`${name} is exact mathematics that`, () => {
    let symbolic: Symbolic;
    beforeAll(async () => {
      symbolic = await open();
    }, 60_000);
    afterAll(() => symbolic.close(), 30_000);

    const ask = (operation: SymbolicOperation, args: SymbolicArgs, signal = never) => symbolic.evaluate({ operation, args, signal });
    const textOf = async (operation: SymbolicOperation, args: SymbolicArgs) => (await ask(operation, args)).result;
    const failureOf = (operation: SymbolicOperation, args: SymbolicArgs, signal = never) =>
      ask(operation, args, signal).then(
        ({ result }) => Promise.reject(new Error(`It returned ${result.slice(0, 100)}.`)),
        (error: { code?: string; detail?: string }) => error,
      );
    const expectSame = async (result: string, wanted: string) => {
      for (const x of points)
        expect([result, valueOf(result, { x, y: x + 1 })]).toEqual([result, expect.closeTo(valueOf(wanted, { x, y: x + 1 }), 9)]);
    };

    it('states in every result which back end calculated it', async () => {
      const { backend: calculated } = await ask('evaluate', { expression: '1+1' });
      expect(calculated).toMatch(new RegExp(`^${backend}\\d+\\.\\d+`));
      expect(calculated).toBe(await symbolic.backend());
      expect(await symbolic.health()).toBeNull();
    });

    it.each([
      ['take a root', 'sqrt(16)', '4', '4'],
      ['add fractions', '1/3 + 1/6', '1/2', '0.5'],
      ['take a share', '17.5 % of 2,340', '819/2', '409.5'],
      ['know angles', 'sin(pi/6)', '1/2', '0.5'],
      ['bind powers to the right', '2^3^2', '512', '512'],
      ['bind a sign weaker than a power', '-2^2', '-4', '-4'],
      ['read print', '3·2² − 4÷2 + √16', '14', '14'],
      [
        'keep every digit',
        '2^200',
        '1606938044258990275541962092341162602522202993782792835301376',
        '1606938044258990275541962092341162602522202993782792835301376',
      ],
      ['keep every digit of a factorial', '30!', '265252859812191058636308480000000', '265252859812191058636308480000000'],
      ['be exact where floating point is not', '0.1 + 0.2', '3/10', '0.3'],
    ])('can %s: %s', async (_what, expression, result, decimal) => {
      expect(await ask('evaluate', { expression })).toMatchObject({ result, decimal });
    });

    it('returns as many digits as requested', async () => {
      const { result, decimal } = await ask('evaluate', { expression: 'sqrt(2)', precision: 40 });
      expect(result).toBe('sqrt(2)');
      // OEIS A002193; without the trailing zero.
      expect(decimal).toBe('1.41421356237309504880168872420969807857');
    });

    it('substitutes values', async () => {
      expect(await ask('evaluate', { expression: 'x^2 + y', values: { x: 3, y: '1/2' } })).toMatchObject({
        result: '19/2',
        decimal: '9.5',
      });
    });

    it('simplifies, expands and factors without changing the value', async () => {
      expect(await textOf('simplify', { expression: 'sin(x)**2 + cos(x)**2' })).toBe('1');
      const expanded = await textOf('expand', { expression: '(x + 1)^3 (x - 2)' });
      expect(expanded).not.toContain('(');
      await expectSame(expanded, '(x + 1)^3*(x - 2)');
      const factored = await textOf('factor', { expression: 'x^2 - 5x + 6' });
      expect(factored).toMatch(/\(.*\)\s*\*\s*\(.*\)/);
      await expectSame(factored, 'x^2 - 5*x + 6');
    });

    it('solves equations', async () => {
      expect((await ask('solve', { expression: '3*x + 5 = 20' })).solutions).toEqual([{ x: '5' }]);
      const two = (await ask('solve', { expression: 'x^2 = 5x - 6', variable: 'x' })).solutions!;
      expect(two.map((one) => one['x']).sort()).toEqual(['2', '3']);
      const roots = (await ask('solve', { expression: 'x^2 - 2' })).solutions!.map((one) => valueOf(one['x']!));
      expect(roots.sort((a, b) => a - b)).toEqual([expect.closeTo(-Math.SQRT2, 12), expect.closeTo(Math.SQRT2, 12)]);
    });

    // One root per degree; the roots of the last three are in standard tables.
    it.each([
      ['x^3 - 8 = 0', 3],
      ['x^3 = 8', 3],
      ['x^4 = 16', 4],
      ['x^2 + 1 = 0', 2],
      ['(x - 1)^2 (x + 2) = 0', 2],
      ['x^3 - 6x^2 + 11x - 6 = 0', 3],
      ['1/x + 1/(x - 1) = 3/2', 2],
      ['x^5 - 32 = 0', 5],
      ['2^x = 8', 1],
      ['cos(x) = 1', 1],
      ['x^2 = 2^x', 3],
    ])('returns all solutions of %s, says that there may be others, or refuses', async (expression, number) => {
      const asked = await ask('solve', { expression }).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'MATH_UNSUPPORTED' });
        return null;
      });
      if (asked?.caveat === null) expect(asked.solutions?.length ?? asked.result.split(' or ').length).toBeGreaterThanOrEqual(number);
    });

    it('knows all solutions if it can: a cubic, a double root, a pole', async () => {
      const cubic = await ask('solve', { expression: 'x^3 - 8 = 0' });
      expect([cubic.caveat, cubic.solutions?.length]).toEqual([null, 3]);
      expect(cubic.solutions).toContainEqual({ x: '2' });
      expect(await ask('solve', { expression: 'x^2 - 2x + 1 = 0' })).toMatchObject({ caveat: null, solutions: [{ x: '1' }] });
      expect(await ask('solve', { expression: '(x^2 - 1)/(x - 1) = 0' })).toMatchObject({ caveat: null, solutions: [{ x: '-1' }] });
      expect(await ask('solve', { expression: 'x^3 - 8 = 0', domain: 'real' })).toMatchObject({ caveat: null, solutions: [{ x: '2' }] });
      expect((await ask('solve', { equations: ['x + y = 3', 'x - y = 1'], variables: ['x', 'y'] })).caveat).toBeNull();
    });

    it('solves systems', async () => {
      const { solutions, decimal } = await ask('solve', { equations: ['x + y = 3', 'x - y = 1'], variables: ['x', 'y'] });
      expect(solutions).toEqual([{ x: '2', y: '1' }]);
      expect(decimal).toContain('x = 2');
    });

    it('differentiates and integrates', async () => {
      await expectSame(await textOf('differentiate', { expression: 'x^3 sin x' }), '3*x^2*sin(x) + x^3*cos(x)');
      await expectSame(await textOf('differentiate', { expression: 'x^4', order: 2 }), '12*x^2');
      expect(await ask('integrate', { expression: 'x^2', lower: 0, upper: '3' })).toMatchObject({ result: '9', decimal: '9' });
      const antiderivative = await textOf('integrate', { expression: 'x exp(x)' });
      const at = (x: number) => valueOf(antiderivative, { x });
      for (const x of points) expect((at(x + 1e-5) - at(x - 1e-5)) / 2e-5).toBeCloseTo(x * Math.exp(x), 4);
    });

    it('knows limits, sums and products', async () => {
      expect(await textOf('limit', { expression: 'sin(x)/x', point: 0 })).toBe('1');
      expect(await textOf('sum', { expression: 'k^2', variable: 'k', lower: 1, upper: 10 })).toBe('385');
      expect(await textOf('product', { expression: 'i', variable: 'i', lower: 1, upper: 5 })).toBe('120');
    });

    it('knows matrices', async () => {
      const matrix = [
        [1, 2],
        [3, '4'],
      ];
      expect(await textOf('determinant', { matrix })).toBe('-2');
      expect(await textOf('inverse', { matrix: '[[1, 2], [3, 4]]' })).toBe('[[-2, 1], [3/2, -1/2]]');
      expect(await textOf('multiply', { matrix, other: '[1, 2; 3, 4]' })).toBe('[[7, 10], [15, 22]]');
      expect((await textOf('eigenvalues', { matrix: '[[2, 1], [1, 2]]' })).match(/\d+/g)!.sort()).toEqual(['1', '3']);
    });

    it.each(hostileTexts.map((text) => [JSON.stringify(text.slice(0, 40)), text]))(
      'refuses %s with a sentence, at once',
      async (_shown, text) => {
        const from = performance.now();
        const failure = await failureOf('evaluate', { expression: text });
        expect(performance.now() - from).toBeLessThan(4_000);
        expect(failure).toMatchObject({ code: 'MATH_INPUT_INVALID', detail: expect.stringMatching(/^.{10,}\.$/s) });
      },
    );

    it.each(giantTexts)('does not begin %s, and serves the next question', async (text) => {
      const from = performance.now();
      expect(await failureOf('evaluate', { expression: text })).toMatchObject({ code: 'MATH_LIMIT' });
      expect(performance.now() - from).toBeLessThan(4_000);
      expect(await textOf('evaluate', { expression: '2+2' })).toBe('4');
    });

    it('refuses missing or meaningless arguments', async () => {
      const wrong: readonly (readonly [SymbolicOperation, SymbolicArgs])[] = [
        ['evaluate', {}],
        ['evaluate', { expression: { $gt: 1 } }],
        ['evaluate', { expression: '1', precision: 1_000_000 }],
        ['integrate', { expression: 'x', lower: 0 }],
        ['limit', { expression: 'x' }],
        ['solve', { expression: '1 = 1' }],
        ['solve', { equations: ['x = 1'], variables: ['__class__'] }],
        ['differentiate', { expression: 'x', variable: 'os.system' }],
        ['determinant', { matrix: [[1, 2]] }],
        ['determinant', { matrix: [[1, 2], [3]] }],
        ['multiply', { matrix: [[1, 2]], other: [[1, 2]] }],
        ['rank', { matrix: Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => 1)) }],
      ];
      for (const [operation, args] of wrong)
        expect([operation, await failureOf(operation, args)]).toMatchObject([operation, { code: 'MATH_INPUT_INVALID' }]);
    });

    it('ends a calculation at its time limit or when told to, and serves the next question', async () => {
      const long = { expression: '(x + y + z + w + 1)^60 (x - y + 2 z - w + 3)^40' };
      await expect(symbolic.evaluate({ operation: 'expand', args: long, signal: never, timeoutMs: 250 })).rejects.toMatchObject({
        code: 'MATH_LIMIT',
      });
      expect(await textOf('evaluate', { expression: '2+2' })).toBe('4');
      const cancelling = new AbortController();
      const cancelled = failureOf('expand', long, cancelling.signal);
      setTimeout(() => cancelling.abort(), 100);
      expect(await cancelled).toMatchObject({ code: 'CALL_CANCELLED' });
      expect(await failureOf('evaluate', { expression: '1' }, AbortSignal.abort())).toMatchObject({ code: 'CALL_CANCELLED' });
      expect(await textOf('evaluate', { expression: '2+3' })).toBe('5');
    }, 30_000);

    it('answers everyone who asks at the same time', async () => {
      const results = await Promise.all(Array.from({ length: 12 }, (_, n) => textOf('evaluate', { expression: `${n} * ${n}` })));
      expect(results).toEqual(Array.from({ length: 12 }, (_, n) => String(n * n)));
    });

    it('is unavailable once it is closed', async () => {
      const other = await open();
      expect((await other.evaluate({ operation: 'evaluate', args: { expression: '1' }, signal: never })).result).toBe('1');
      await other.close();
      await other.close();
      await expect(other.evaluate({ operation: 'evaluate', args: { expression: '1' }, signal: never })).rejects.toMatchObject({
        code: 'MATH_UNAVAILABLE',
      });
      expect(await other.health()).toContain('closed');
    }, 60_000);
  });
}
