import { readDecimal } from '../numbers/read-number.js';
import { Rational } from '../numbers/rational.js';
import { invalid, quoted } from '../refusal.js';
import { ambiguousUnits, binaryPrefixes, siPrefixes, unitTable, type UnitSpec } from './unit-table.js';

/** A unit as a multiple of SI base units: factor * pi^pi. */
export interface Unit {
  factor: Rational;
  pi: number;
  /** Exponents of base units; none is zero. */
  dimension: ReadonlyMap<string, number>;
  notes: readonly string[];
}

/** "a*b/c" with decimals. */
const factorOf = (text: string): Rational =>
  text
    .split(/(?=[*/])/)
    .reduce(
      (value, part) =>
        part.startsWith('/') ? value.divide(readDecimal(part.slice(1))) : value.multiply(readDecimal(part.replace('*', ''))),
      Rational.one,
    );

const dimensionOf = (text: string): Map<string, number> =>
  new Map(
    text
      .split(' ')
      .filter(Boolean)
      .map((part) => {
        const [, base, exponent] = /^([a-zA-Z]+)(-?\d+)?$/.exec(part)!;
        return [base!, Number(exponent ?? 1)];
      }),
  );

interface Named {
  spec: UnitSpec;
  /** Of the prefix. */
  scale: Rational;
  note?: string;
}

/** Every spelling, with every prefix. Symbols are case-sensitive: MB is not Mb, and Pa not PA. */
function namedUnits(): Map<string, Named> {
  const found = new Map<string, Named>();
  const put = (name: string, named: Named): void => void (found.has(name) || found.set(name, named));
  const entries = Object.entries(unitTable);
  for (const [symbol, spec] of entries) {
    for (const name of [symbol, ...(spec.names ?? [])]) put(name, { spec, scale: Rational.one });
    for (const name of [symbol, ...(spec.names ?? [])])
      if (name.length > 2 && !name.endsWith('s')) put(`${name}s`, { spec, scale: Rational.one });
  }
  for (const [symbol, spec] of entries) {
    if (!spec.prefixes) continue;
    const words = [symbol, ...(spec.names ?? [])];
    const prefixes = [
      // There is no half bit: mb may be meant as MB or Mb.
      ...Object.entries(siPrefixes)
        .filter(([, { exponent }]) => exponent > 2 || !spec.dimension.includes('bit'))
        .map(([prefix, { name, exponent }]) => ({ prefix, name, scale: Rational.of(10).power(BigInt(exponent)) })),
      ...(spec.prefixes === 'binary and si'
        ? Object.entries(binaryPrefixes).map(([prefix, { name, exponent }]) => ({
            prefix,
            name,
            scale: Rational.of(1024).power(BigInt(exponent)),
          }))
        : []),
    ];
    for (const { prefix, name, scale } of prefixes) {
      for (const word of words) {
        if (word.length <= 3 || word === symbol) put(prefix + word, { spec, scale });
        if (word.length > 2) for (const plural of [word, `${word}s`]) put(name + plural, { spec, scale });
      }
    }
  }
  const kilo = { scale: Rational.of(1_000), note: 'KB was taken as 1000 bytes (kB); 1024 bytes are KiB.' };
  put('KB', { spec: unitTable.B!, ...kilo });
  put('kbps', { spec: unitTable.bps!, scale: Rational.of(1_000) });
  return found;
}

interface UnitNames {
  exact: ReadonlyMap<string, Named>;
  byLowerCase: ReadonlyMap<string, ReadonlySet<Named>>;
}
let names: UnitNames | undefined;

/** Thousands of spellings: created when the first one is looked up, not when a thread starts. */
function unitNames(): UnitNames {
  if (names) return names;
  const exact = namedUnits();
  const byLowerCase = new Map<string, Set<Named>>();
  for (const [name, named] of exact) {
    const key = name.toLowerCase();
    byLowerCase.set(key, (byLowerCase.get(key) ?? new Set<Named>()).add(named));
  }
  return (names = { exact, byLowerCase });
}

const sameSize = ([first, ...others]: readonly Named[]): boolean =>
  others.every((other) => other.spec === first!.spec && other.scale.equals(first!.scale));

function lookUp(name: string): Named {
  const key = name.replaceAll(/[\s-]+/g, '_');
  const ambiguous = Object.hasOwn(ambiguousUnits, key.toLowerCase()) ? ambiguousUnits[key.toLowerCase()] : undefined;
  if (ambiguous) throw invalid(`${quoted(name)} has several meanings: ${ambiguous}.`);
  const { exact: units, byLowerCase } = unitNames();
  const exact = units.get(name) ?? units.get(key);
  if (exact) return exact;
  const close = [...(byLowerCase.get(key.toLowerCase()) ?? [])];
  if (close.length > 0 && sameSize(close)) return close[0]!;
  const spellings = [...units.keys()].filter((known) => known.toLowerCase() === key.toLowerCase());
  if (spellings.length > 0) throw invalid(`${quoted(name)} could be ${spellings.join(' or ')}: capitals matter.`);
  throw invalid(`${quoted(name)} is not a unit known here. Use symbols such as km, ft, kg, lb, °C, L, gal, kWh, GiB, km/h, m^2.`);
}

/** Reads km, km/h, m^2, kg*m/s^2, "square feet", "cubic meters". */
export function readUnit(text: string): Unit {
  const words = text
    .trim()
    .replace(/²/g, '^2')
    .replace(/³/g, '^3')
    .replace(/\s+per\s+/gi, '/')
    .replace(/[·⋅]/g, '*');
  if (words === '' || words.length > 100) throw invalid(`${quoted(text)} is not a unit.`);
  const [above = '', ...below] = words.split('/');
  if (below.length > 1) throw invalid('Write a unit with one "/", such as kg/(m*s^2) as kg/m*s^2: everything after it is below the line.');
  const result = { factor: Rational.one, pi: 0, dimension: new Map<string, number>(), notes: [] as string[] };
  const take = (part: string, sign: 1 | -1): void => {
    for (const piece of part.replace(/^\(|\)$/g, '').split('*')) {
      const worded = piece
        .trim()
        .replace(/^(?:square|sq)[\s_.]+(.+)$/i, '$1^2')
        .replace(/^(?:cubic|cu)[\s_.]+(.+)$/i, '$1^3');
      const [, name = '', power, digit] = /^(.+?)(?:\^(-?\d)|([23]))?$/.exec(worded) ?? [];
      const exponent = sign * Number(power ?? digit ?? 1);
      const { spec, scale, note } = lookUp(name.trim());
      result.factor = result.factor.multiply(factorOf(spec.factor).multiply(scale).power(BigInt(exponent)));
      result.pi += (spec.pi ?? 0) * exponent;
      for (const [base, of] of dimensionOf(spec.dimension)) {
        const sum = (result.dimension.get(base) ?? 0) + of * exponent;
        if (sum === 0) result.dimension.delete(base);
        else result.dimension.set(base, sum);
      }
      if (!/^us[_ ]/i.test(name)) result.notes.push(...[spec.note, note].filter((said) => said !== undefined));
    }
  };
  take(above, 1);
  if (below.length > 0) take(below[0]!, -1);
  return result;
}

export const dimensionText = ({ dimension }: Unit): string =>
  dimension.size === 0 ? 'a plain number' : [...dimension].map(([base, of]) => (of === 1 ? base : `${base}^${of}`)).join(' ');

export const sameDimension = (a: Unit, b: Unit): boolean =>
  a.dimension.size === b.dimension.size && [...a.dimension].every(([base, of]) => b.dimension.get(base) === of);
