import { describe, expect, it } from '@jest/globals';
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
  it('fit', () => {
    expect(problem({ expression: '1+1', digits: 3, mode: 'fast', points: [{ x: 1 }], on: '2024-02-29' })).toBeNull();
  });

  it.each([
    [{}, '`expression` is missing.'],
    [{ expression: '' }, '`expression` must NOT have fewer than 1 characters.'],
    [{ expression: 'x', digits: 'three' }, '`digits` must be integer.'],
    [{ expression: 'x', digits: 51 }, '`digits` must be <= 50.'],
    [{ expression: 'x', mode: 'slow' }, '`mode` must be equal to one of the allowed values.'],
    [{ expression: 'x', points: [{ x: 1 }, { y: 1 }] }, '`points.1.x` is missing.'],
    [{ expression: 'x', on: '2023-02-29' }, '`on` must match format "date".'],
    [{ expression: 'x', precision: 3 }, 'There is no argument `precision`.'],
    [{ digits: 'x', mode: 1 }, '`expression` is missing. `digits` must be integer. `mode` must be equal to one of the allowed values.'],
  ])('%j: %s', (value, sentence) => {
    expect(problem(value)).toBe(sentence);
  });

  it('are described in one bounded line, whatever their names', () => {
    const names = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`a\n\u202e${n}${'x'.repeat(100)}`, n]));
    const said = problem({ expression: 'x', ...names })!;
    expect(said.length).toBeLessThanOrEqual(400);
    expect(said).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
