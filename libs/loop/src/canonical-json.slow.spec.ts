import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.js';

/** Reference implementation: the hashes of recorded runs depend on it. */
function defined(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => defined(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${defined(member)}`).join(',')}}`;
}

describe('canonical JSON', () => {
  it('follows its definition, for any keys and values', () => {
    const key = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.nat(120).map(String),
      fc.constantFrom('run/0/t1', '__proto__', 'a"b', '\ud800', 'é'),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(undefined, null, true, false, -0, NaN, 1e21),
        fc.double(),
        fc.string({ unit: 'binary' }),
        fc.array(tie('value')),
        fc.dictionary(key, tie('value'), { noNullPrototype: false }),
      ),
    }));
    fc.assert(fc.property(value, (given) => expect(canonicalJson(given)).toBe(defined(given))));
  });

  it('is the same for members in another order, and without undefined ones', () => {
    expect(canonicalJson({ b: 1, a: { d: [undefined], c: undefined } })).toBe('{"a":{"d":[null]},"b":1}');
    expect(canonicalJson({ 10: 'ten', 9: 'nine' })).toBe('{"10":"ten","9":"nine"}');
  });
});
