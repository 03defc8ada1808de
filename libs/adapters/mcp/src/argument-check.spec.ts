import { describe, expect, it, jest } from '@jest/globals';
import { SchemaCheck } from './argument-check.js';

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:one',
  type: 'object',
  properties: {
    expression: { type: 'string', minLength: 1 },
    digits: { type: 'integer', maximum: 50 },
    mode: { enum: ['exact', 'fast'] },
    points: { type: 'array', items: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
    on: { type: 'string', format: 'date' },
  },
  required: ['expression'],
  additionalProperties: false,
};
const problem = (value: Record<string, unknown>): string | null => new SchemaCheck(schema, 5_000).problem(value);

describe('arguments against a schema', () => {
  it('match', () => {
    expect(problem({ expression: '1+1', digits: 3, mode: 'fast', points: [{ x: 1 }], on: '2024-02-29' })).toBeNull();
  });

  it.each([
    [{}, '`expression` is missing.'],
    [{ expression: '' }, '`expression`: String is too short (0 < 1).'],
    [{ expression: 'x', digits: 'three' }, '`digits` must be integer.'],
    [{ expression: 'x', digits: 51 }, '`digits`: 51 is greater than 50.'],
    [{ expression: 'x', mode: 'slow' }, '`mode`: Instance does not match any of ["exact","fast"].'],
    [{ expression: 'x', points: [{ x: 1 }, { y: 1 }] }, '`points.1.x` is missing.'],
    [{ expression: 'x', on: '2023-02-29' }, '`on`: String does not match format "date".'],
    [{ expression: 'x', precision: 3 }, 'There is no argument `precision`.'],
    [
      { digits: 'x', mode: 1 },
      '`expression` is missing. `digits` must be integer. `mode`: Instance does not match any of ["exact","fast"].',
    ],
  ])('%j: %s', (value, sentence) => {
    expect(problem(value)).toBe(sentence);
  });

  describe('of a union', () => {
    const way = (kind: string, ...needed: string[]) => ({
      type: 'object',
      properties: { kind: { const: kind }, ...Object.fromEntries(needed.map((name) => [name, { type: 'string' }])) },
      required: ['kind', ...needed],
    });
    const check = new SchemaCheck(
      {
        $defs: { Pickup: way('pickup', 'store_id'), Delivery: way('delivery', 'street', 'postcode') },
        type: 'object',
        properties: {
          ship: { oneOf: [{ $ref: '#/$defs/Pickup' }, { $ref: '#/$defs/Delivery' }] },
          day: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
          to: {
            anyOf: [
              { type: 'string', minLength: 3 },
              { type: 'object', required: ['id'] },
            ],
          },
          both: { oneOf: [{ type: 'string' }, { minLength: 1 }] },
        },
      },
      5_000,
    );

    it.each([
      [{ ship: { kind: 'pickup', store: 'S1' } }, '`ship.store_id` is missing.'],
      [{ ship: { kind: 'delivery', street: 'Main 1' } }, '`ship.postcode` is missing.'],
      [{ ship: { kind: 'mail' } }, '`ship.kind`: Instance does not match "pickup". `ship.kind`: Instance does not match "delivery".'],
      [{ ship: 'pickup' }, '`ship` must be object.'],
      [{ day: 'Monday' }, '`day` must be integer or null.'],
      [{ to: 'x' }, '`to`: String is too short (1 < 3).'],
      [{ to: {} }, '`to.id` is missing.'],
      [{ both: 'x' }, '`both`: Instance does not match exactly one subschema (2 matches).'],
    ])('name only what the choice that is meant lacks: %j', (value, sentence) => {
      expect(check.problem(value)).toBe(sentence);
    });
  });

  it('are checked without generating code from the schema', () => {
    const made = jest.spyOn(globalThis, 'Function');
    expect(problem({ expression: 'x', digits: 51 })).toContain('51');
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
  });

  it.each([
    ['http://json-schema.org/draft-07/schema#', { definitions: { n: { type: 'number' } }, properties: { a: { $ref: '#/definitions/n' } } }],
    ['https://json-schema.org/draft/2019-09/schema', { properties: { a: { items: [{ type: 'number' }], type: ['array', 'number'] } } }],
    ['http://json-schema.org/draft-04/schema#', { properties: { a: { type: 'number', maximum: 5, exclusiveMaximum: true } } }],
  ])('are checked by the rules of the draft that the schema names: %s', ($schema, rest) => {
    const check = new SchemaCheck({ $schema, type: 'object', ...rest }, 5_000);
    expect(check.problem({ a: 4 })).toBeNull();
    expect(check.problem({ a: 'text' })).toContain('`a`');
  });

  it('are described in one bounded line, whatever their names', () => {
    const names = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`a\n\u202e${n}${'x'.repeat(100)}`, n]));
    const said = problem({ expression: 'x', ...names })!;
    expect(said.length).toBeLessThanOrEqual(400);
    expect(said).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
