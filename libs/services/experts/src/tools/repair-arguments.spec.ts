import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { repairArguments } from './repair-arguments.js';

const schema = {
  type: 'object',
  properties: {
    expression: { type: 'string' },
    max_digits: { type: 'integer' },
    rate: { type: 'number' },
    exactly: { type: 'boolean' },
    mode: { enum: ['exact', 'Fast'] },
    values: { type: 'array', items: { type: 'number' } },
    names: { type: 'array', items: { type: 'string' } },
    options: { type: 'object', properties: { depth: { type: 'integer' } } },
    maybe: { type: ['integer', 'null'] },
    either: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    both: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
    ref: { $ref: '#/$defs/count' },
    free: {},
  },
  required: ['expression'],
  $defs: { count: { type: 'integer' } },
};
const repaired = (args: Record<string, unknown>) => repairArguments(args, schema);

describe('arguments of a model', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['a number written as text', { max_digits: '12' }, { max_digits: 12 }],
    ['a number with sign, point and exponent', { rate: ' -1.5e-3 ' }, { rate: -0.0015 }],
    ['a number through a reference', { ref: '7' }, { ref: 7 }],
    ['a number where null is allowed too', { maybe: '7' }, { maybe: 7 }],
    ['true and false written as text', { exactly: 'True' }, { exactly: true }],
    ['text written as a number', { expression: 42 }, { expression: '42' }],
    ['an object written as text', { options: '{"depth": "3"}' }, { options: { depth: 3 } }],
    ['a list written as text', { values: '[1, "2"]' }, { values: [1, 2] }],
    ['numbers of a list written as text', { values: ['1', 2, '3.5'] }, { values: [1, 2, 3.5] }],
    ['one value where a list is wanted', { values: 5 }, { values: [5] }],
    ['one text where a list is wanted', { names: 'Ada' }, { names: ['Ada'] }],
    ['a choice in another case', { mode: 'fast ' }, { mode: 'Fast' }],
    ['a name in camel case', { maxDigits: 3 }, { max_digits: 3 }],
    ['a name in kebab case, with a number as text', { 'max-digits': '3' }, { max_digits: 3 }],
    ['null for an omitted argument', { expression: 'x', rate: null }, { expression: 'x' }],
    ['arguments in a wrapper', { arguments: { max_digits: '3' } }, { max_digits: 3 }],
    ['arguments in a wrapper, as text', { args: '{"expression": "1"}' }, { expression: '1' }],
    ['parts of an object', { options: { depth: '3', other: 'x' } }, { options: { depth: 3, other: 'x' } }],
  ])('are taken as meant: %s', (_name, args, meant) => {
    const { args: taken, repairs } = repaired(args);
    expect(taken).toEqual(meant);
    expect(repairs.length).toBeGreaterThan(0);
    for (const sentence of repairs) expect(sentence).toMatch(/^(The content of )?`[\w-]+` .*\.$/);
  });

  it.each<[string, Record<string, unknown>]>([
    [
      'matching arguments',
      { expression: '12', max_digits: 3, rate: 1, exactly: false, values: [1], maybe: null, either: '7', free: '7', mode: 'exact' },
    ],
    ['a number with separators', { rate: '1,000', max_digits: '1.000.000' }],
    ['a number that would lose digits', { max_digits: '12345678901234567890', rate: '0.1234567890123456789' }],
    ['a fraction where a whole number is expected', { max_digits: '1.5' }],
    ['a number in words, in hexadecimal, infinite, or empty', { max_digits: 'three', rate: '0x10', ref: 'Infinity', maybe: '' }],
    ['text that may be one item or several', { names: 'Ada, Grace', values: '' }],
    ['JSON that is broken', { options: '{"depth": 3', values: '[1, 2' }],
    ['yes and one', { exactly: 'yes' }],
    ['an ambiguous value', { both: 'x' }],
    ['null for a required argument', { expression: null }],
    ['a name that two arguments share', { maxDigits: 1, 'max-digits': 2 }],
    ['a name whose correct spelling is also present', { maxDigits: 1, max_digits: 2 }],
    ['a name unlike every argument', { precision: 3 }],
    ['a wrapper beside other arguments', { args: { rate: 1 }, expression: 'x' }],
  ])('stay as they are: %s', (_name, args) => {
    expect(repaired(args)).toEqual({ args, repairs: [] });
  });

  it('are not unwrapped from an argument that the tool declares', () => {
    const own = { type: 'object', properties: { input: { type: 'object' } } };
    expect(repairArguments({ input: { a: 1 } }, own)).toEqual({ args: { input: { a: 1 } }, repairs: [] });
  });

  it('never reach the prototype of any object', () => {
    const args = JSON.parse('{"__proto__": {"max_digits": "1"}, "constructor": "2"}') as Record<string, unknown>;
    const { args: taken } = repaired(args);
    expect(Object.keys(taken)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(taken)).toBe(Object.prototype);
    expect(repairArguments({ a: '1' }, { properties: { a: { $ref: '#/constructor/name' } } }).args).toEqual({ a: '1' });
  });

  it('take a bounded time, however the schema unfolds', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`p${n}`, { anyOf: Array.from({ length: 8 }, () => ({ $ref: '#' })) }]),
    );
    const unfolding = { type: 'object', properties };
    const value = (depth: number): unknown =>
      depth === 0 ? 'x' : Object.fromEntries(Object.keys(properties).map((name, n) => [name, n < 3 ? value(depth - 1) : '1']));
    const before = process.cpuUsage();
    repairArguments(value(5) as Record<string, unknown>, unfolding);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  it('that match are never changed', () => {
    const fits = fc.record(
      {
        expression: fc.string(),
        max_digits: fc.integer(),
        rate: fc.double({ noNaN: true, noDefaultInfinity: true }),
        exactly: fc.boolean(),
        mode: fc.constantFrom('exact', 'Fast'),
        values: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })),
        names: fc.array(fc.string()),
        options: fc.record({ depth: fc.integer(), more: fc.jsonValue() }, { requiredKeys: [] }),
        maybe: fc.option(fc.integer()),
        either: fc.oneof(fc.integer(), fc.string()),
        free: fc.jsonValue(),
      },
      { requiredKeys: ['expression'] },
    );
    fc.assert(
      fc.property(fits, (args) => expect(repaired(args)).toEqual({ args, repairs: [] })),
      { numRuns: 300 },
    );
  });

  it('that match anything are converted to something, with short sentences and only visible characters', () => {
    const names = fc.constantFrom(...Object.keys(schema.properties), 'maxDigits', 'args', 'a\n\u202e`', 'x'.repeat(500));
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue({ maxDepth: 3 })), (args) => {
        for (const sentence of repaired(args).repairs) {
          expect(sentence).not.toMatch(/[\p{Cc}\p{Cf}]/u);
          expect(sentence.length).toBeLessThan(200);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('an argument that the tool does not know', () => {
  const strict = { ...schema, additionalProperties: false };
  const given = { expression: '17 - 9', operation: 'solve' };

  it('is left out if the tool changes nothing and has all it needs', () => {
    expect(repairArguments(given, strict, true)).toEqual({
      args: { expression: '17 - 9' },
      repairs: ['`operation` is no argument of this tool and was left out.'],
    });
  });
  it.each([
    ['the tool may change something', given, strict, false],
    ['the tool takes other arguments, too', given, schema, true],
    ['a required one is missing', { operation: 'solve' }, strict, true],
  ] as const)('stays if %s', (_why, args, of, readOnly) => {
    expect(repairArguments(args, of, readOnly)).toEqual({ args, repairs: [] });
  });
});

describe('a missing argument under another name', () => {
  const needs = (...required: string[]) => ({ type: 'object', properties: { email: {}, repo_path: {}, limit: {} }, required });
  it.each([
    [{ mail: 'a@b' }, ['email'], { email: 'a@b' }],
    [{ email_address: 'a@b' }, ['email'], { email: 'a@b' }],
    [{ repo: '/r', limit: 3 }, ['repo_path'], { repo_path: '/r', limit: 3 }],
  ])('is recognised for a tool that changes nothing: %j', (args, required, meant) => {
    const { args: taken, repairs } = repairArguments(args, needs(...required), true);
    expect(taken).toEqual(meant);
    expect(repairs).toEqual([expect.stringMatching(/^`\w+` is read as `\w+`\.$/)]);
    expect(repairArguments(args, needs(...required))).toEqual({ args, repairs: [] });
  });

  it.each([
    [{ address: 'a@b' }, ['email']],
    [{ mail: 'a@b', repo: '/r' }, ['email', 'repo_path']],
    [{ mail: 'a@b', from: 'c@d' }, ['email']],
    [{ em: 'a@b' }, ['email']],
    [{ mail: 'a@b', email: 'c@d' }, ['email']],
  ])('is not guessed: %j', (args, required) => {
    expect(repairArguments(args, needs(...required), true).args).toEqual(args);
  });
});
