import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ask, refusalOf } from '../__fixtures__/ask.js';

const convert = (value: number | string, from_unit: string, to_unit: string) =>
  ask('unit_convert', { value, from_unit, to_unit }) as { result: string; exact: boolean; notes: string[] };

/** Published factors, each to its base unit, as numerator and denominator. */
const families: Readonly<Record<string, Readonly<Record<string, readonly [bigint, bigint]>>>> = {
  length: {
    m: [1n, 1n],
    km: [1000n, 1n],
    cm: [1n, 100n],
    in: [254n, 10_000n],
    ft: [3048n, 10_000n],
    yd: [9144n, 10_000n],
    mi: [1_609_344n, 1000n],
    nmi: [1852n, 1n],
    µm: [1n, 1_000_000n],
  },
  mass: {
    kg: [1n, 1n],
    g: [1n, 1000n],
    mg: [1n, 1_000_000n],
    t: [1000n, 1n],
    lb: [45_359_237n, 100_000_000n],
    oz: [45_359_237n, 1_600_000_000n],
    st: [635_029_318n, 100_000_000n],
  },
  data: {
    bit: [1n, 1n],
    B: [8n, 1n],
    kB: [8_000n, 1n],
    MB: [8_000_000n, 1n],
    KiB: [8_192n, 1n],
    MiB: [8n * 1024n ** 2n, 1n],
    TiB: [8n * 1024n ** 4n, 1n],
    Gbit: [10n ** 9n, 1n],
    YB: [8n * 10n ** 24n, 1n],
  },
  time: { s: [1n, 1n], ms: [1n, 1000n], min: [60n, 1n], h: [3600n, 1n], d: [86_400n, 1n], week: [604_800n, 1n] },
  speed: { 'm/s': [1n, 1n], 'km/h': [1000n, 3600n], mph: [1_609_344n, 3_600_000n], kn: [1852n, 3600n], 'ft/min': [3048n, 600_000n] },
  area: {
    'm^2': [1n, 1n],
    ha: [10_000n, 1n],
    'km^2': [1_000_000n, 1n],
    'square feet': [3048n ** 2n, 10n ** 8n],
    acre: [40_468_564_224n, 10_000_000n],
  },
  volume: {
    L: [1n, 1000n],
    mL: [1n, 1_000_000n],
    'm^3': [1n, 1n],
    us_gal: [3_785_411_784n, 10n ** 12n],
    imp_gal: [454_609n, 10n ** 8n],
    'cubic inches': [254n ** 3n, 10n ** 12n],
  },
};

const pairOf = (text: string): readonly [bigint, bigint] => {
  if (text.includes('/')) return text.split('/').map(BigInt) as [bigint, bigint];
  const [whole = '', fraction = ''] = text.split('.');
  return [BigInt(whole + fraction), 10n ** BigInt(fraction.length)];
};

describe('unit_convert', () => {
  it.each(Object.keys(families))('converts every %s into every other exactly', (family) => {
    const units = Object.entries(families[family]!);
    for (const [from, [fn, fd]] of units) {
      for (const [to, [tn, td]] of units) {
        const { result, exact } = convert('12.5', from, to);
        const [n, d] = pairOf(result);
        expect(exact).toBe(true);
        // 12.5 = 25/2
        expect([from, to, n * 2n * fd * tn]).toEqual([from, to, d * 25n * fn * td]);
      }
    }
  });

  it('converts there and back to the same temperature', () => {
    const units = ['°C', '°F', 'K', '°R'];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), fc.constantFrom(...units), fc.constantFrom(...units), (hundredths, a, b) => {
        const kelvin = `${hundredths / 100}`;
        const there = convert(convert(kelvin, 'K', a).result, a, b).result;
        expect(convert(there, b, 'K').result).toBe(kelvin);
      }),
    );
    expect(convert(100, '°C', '°F').result).toBe('212');
    expect(convert('98.6', 'F', 'C').result).toBe('37');
  });

  it('inverts fuel consumption', () => {
    expect(convert(5, 'l/100km', 'km/l').result).toBe('20');
    expect(convert(convert(30, 'mpg', 'l/100km').result, 'l/100km', 'mpg').result).toBe('30');
  });

  it('reports how it interpreted a word with several meanings', () => {
    expect(convert(1, 'gal', 'L').notes).toEqual([expect.stringContaining('US')]);
    expect(convert(1, 'us_gal', 'L').notes).toEqual([]);
    expect(convert(1, 'KB', 'B')).toMatchObject({ result: '1000', notes: [expect.stringContaining('1024')] });
  });

  it.each([
    ['ton', 'kg', 'short_ton'],
    ['mb', 'kb', 'capitals matter'],
    ['kt', 'km/h', 'kn (knots)'],
    ['month', 'd', 'date_add'],
    ['oz', 'mL', 'fl_oz'],
    ['m', 's', 'different things'],
    ['°C', 'm', 'temperature'],
    ['constructor', 'm', 'not a unit'],
    ['__proto__', 'm', 'not a unit'],
    ['', 'm', 'not a unit'],
    ['a/b/c', 'm', 'one "/"'],
  ])('refuses %s to %s and says what to write', (from_unit, to_unit, words) =>
    expect(refusalOf('unit_convert', { value: 1, from_unit, to_unit })).toContain(words),
  );

  it('refuses a temperature below absolute zero, and a number that JSON cannot hold exactly', () => {
    expect(refusalOf('unit_convert', { value: -300, from_unit: 'C', to_unit: 'F' })).toContain('absolute zero');
    expect(refusalOf('unit_convert', { value: 2 ** 60, from_unit: 'm', to_unit: 'km' })).toContain('as text');
  });
});

describe('units in the plural and by their longer names', () => {
  it.each<[number, string, string, string]>([
    [2, 'acres', 'm2', '8093.7128448'],
    [5, 'weeks', 'days', '35'],
    [2, 'cups', 'tablespoons', '32'],
    [1, 'fortnight', 'hours', '336'],
    [1, 'furlong', 'm', '201.168'],
    [1, 'imperial quart', 'ml', '1136.5225'],
    [1, 'oz t', 'g', '31.1034768'],
  ])('%s %s in %s', (value, from, to, result) => expect(convert(value, from, to)).toMatchObject({ value: String(value), result }));
});
