import * as z from 'zod';
import * as about from '../numbers/approximate.js';
import { exactText, roundedDecimal } from '../numbers/decimal-text.js';
import { readDecimal, readNumber, numberArgument } from '../numbers/read-number.js';
import { Rational } from '../numbers/rational.js';
import { invalid } from '../refusal.js';
import { defineTool } from '../tool.js';
import { dimensionText, readUnit, sameDimension } from './read-unit.js';

/** Kelvin = (value + offset) * factor. */
const temperatures: readonly { names: RegExp; symbol: string; factor: Rational; offset: Rational }[] = [
  {
    names: /^(?:°\s?C|℃|C|degC|celsius|deg(?:rees?)?[ _]C(?:elsius)?)$/i,
    symbol: '°C',
    factor: Rational.one,
    offset: readDecimal('273.15'),
  },
  {
    names: /^(?:°\s?F|℉|F|degF|fahrenheit|deg(?:rees?)?[ _]F(?:ahrenheit)?)$/i,
    symbol: '°F',
    factor: Rational.of(5, 9),
    offset: readDecimal('459.67'),
  },
  { names: /^(?:K|kelvins?)$/i, symbol: 'K', factor: Rational.one, offset: Rational.zero },
  { names: /^(?:°\s?R|R|rankine)$/i, symbol: '°R', factor: Rational.of(5, 9), offset: Rational.zero },
];
const temperatureOf = (unit: string) => temperatures.find(({ names }) => names.test(unit.trim()));

/** Fuel use is inverted between distance per volume and volume per distance. */
const fuel: Readonly<Record<string, { metersPerCubicMeter: Rational; inverse: boolean; note?: string }>> = {
  mpg: {
    metersPerCubicMeter: readDecimal('1609.344').divide(readDecimal('0.003785411784')),
    inverse: false,
    note: '"mpg" was taken as miles per US gallon; the imperial one is mpg_imp.',
  },
  mpg_us: { metersPerCubicMeter: readDecimal('1609.344').divide(readDecimal('0.003785411784')), inverse: false },
  mpg_imp: { metersPerCubicMeter: readDecimal('1609.344').divide(readDecimal('0.00454609')), inverse: false },
  'km/l': { metersPerCubicMeter: Rational.of(1_000_000), inverse: false },
  'l/100km': { metersPerCubicMeter: Rational.of(100_000_000), inverse: true },
};
const fuelOf = (unit: string) => {
  const key = unit
    .trim()
    .toLowerCase()
    .replaceAll(' ', '')
    .replace('liters', 'l')
    .replace('kilometers', 'km')
    .replace('mpg(us)', 'mpg_us')
    .replace('mpg(uk)', 'mpg_imp')
    .replace('mpg_uk', 'mpg_imp');
  return Object.hasOwn(fuel, key) ? fuel[key] : undefined;
};

interface Converted {
  value: Rational;
  /** The value must be multiplied by this power of pi. */
  pi: number;
  notes: readonly string[];
}

function converted(value: Rational, from: string, to: string): Converted {
  const [fromTemperature, toTemperature] = [temperatureOf(from), temperatureOf(to)];
  // C is also the coulomb, so it means a temperature only if both units are temperatures.
  if (fromTemperature && toTemperature) {
    const kelvin = value.add(fromTemperature.offset).multiply(fromTemperature.factor);
    if (kelvin.sign < 0) throw invalid(`${exactText(value)} ${fromTemperature.symbol} is below absolute zero.`);
    return { value: kelvin.divide(toTemperature.factor).subtract(toTemperature.offset), pi: 0, notes: [] };
  }
  const [fromFuel, toFuel] = [fuelOf(from), fuelOf(to)];
  if (fromFuel && toFuel) {
    if (value.sign <= 0) throw invalid('Fuel use must be above zero.');
    const metersPerCubicMeter = fromFuel.inverse
      ? fromFuel.metersPerCubicMeter.divide(value)
      : fromFuel.metersPerCubicMeter.multiply(value);
    const result = toFuel.inverse
      ? toFuel.metersPerCubicMeter.divide(metersPerCubicMeter)
      : metersPerCubicMeter.divide(toFuel.metersPerCubicMeter);
    return { value: result, pi: 0, notes: [fromFuel.note, toFuel.note].filter((note) => note !== undefined) };
  }
  const [source, target] = [
    readUnit(fromTemperature && !toTemperature ? plainTemperature(from) : from),
    readUnit(toTemperature && !fromTemperature ? plainTemperature(to) : to),
  ];
  if (!sameDimension(source, target)) {
    const hint = from.trim() === 'oz' || to.trim() === 'oz' ? ' For a volume write fl_oz.' : '';
    throw invalid(`${from} (${dimensionText(source)}) and ${to} (${dimensionText(target)}) measure different things.${hint}`);
  }
  const notes = [...new Set([...source.notes, ...target.notes])];
  return { value: value.multiply(source.factor).divide(target.factor), pi: source.pi - target.pi, notes };
}

/** Only one side is a temperature: C may be meant as coulomb, the other units have no second meaning. */
function plainTemperature(unit: string): string {
  if (unit.trim() === 'C') return unit;
  throw invalid(`${unit} is a temperature, and the other unit is not.`);
}

function timesPi(value: Rational, power: number): about.Approximate {
  const pi = about.approximate(power > 0 ? about.pi : new about.Decimal(1).div(about.pi));
  return Array.from({ length: Math.abs(power) }, () => pi).reduce(about.multiply, about.fromRational(value));
}

export const unitConvert = defineTool({
  name: 'unit_convert',
  title: 'Unit conversion',
  description:
    'Converts between units with exact factors: length, area, volume, mass, time, speed, temperature, pressure, energy, power, force, data (kB = 1000, KiB = 1024), angle, fuel use and compound units such as km/h.',
  input: {
    value: numberArgument('the amount'),
    from_unit: z.string().describe('such as km, ft, lb, °F, L, gal, kWh, GiB, Mbit/s, km/h, m^2, l/100km'),
    to_unit: z.string().describe('a unit of the same kind'),
  },
  output: {
    result: z.string().describe('the amount in to_unit: an exact decimal, an exact fraction, or 30 digits when pi is in it'),
    decimal: z.string().describe('to 30 significant digits'),
    exact: z.boolean(),
    value: z.string().describe('the amount that was converted'),
    from_unit: z.string(),
    to_unit: z.string(),
    notes: z.array(z.string()).describe('how words with several meanings were taken'),
  },
  run({ value: written, from_unit, to_unit }) {
    const amount = readNumber(written, 'value');
    const { value, pi, notes } = converted(amount, from_unit, to_unit);
    const shown = { value: exactText(amount), from_unit: from_unit.trim(), to_unit: to_unit.trim(), notes: [...notes] };
    if (pi === 0 || value.sign === 0) return { result: exactText(value), decimal: roundedDecimal(value), exact: true, ...shown };
    const decimal = about.approximateText(timesPi(value, pi));
    return { result: decimal, decimal, exact: false, ...shown };
  },
});
