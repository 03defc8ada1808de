/**
 * Units by symbol. Factors are exact to the coherent SI unit: they are definitions, not measurements (SI Brochure, 9th edition;
 * NIST SP 811 appendix B; international yard and pound agreement of 1959; UK Weights and Measures Act 1985 for the imperial
 * gallon). `pi` multiplies the factor by a power of pi, which no decimal can represent exactly.
 */
export interface UnitSpec {
  /** As a decimal or fraction, in SI base units (data: bit; angle: radian). */
  factor: string;
  /** Base units and their exponents, such as "m", "m3", "kg m2 s-2". */
  dimension: string;
  /** Takes the SI prefixes. */
  prefixes?: 'si' | 'binary and si';
  names?: readonly string[];
  pi?: number;
  /** How the unit was interpreted, if the word has several meanings. */
  note?: string;
}

const length = (factor: string, names: readonly string[] = [], more: Partial<UnitSpec> = {}): UnitSpec => ({
  factor,
  dimension: 'm',
  names,
  ...more,
});
const area = (factor: string, names: readonly string[] = []): UnitSpec => ({ factor, dimension: 'm2', names });
const volume = (factor: string, names: readonly string[] = [], more: Partial<UnitSpec> = {}): UnitSpec => ({
  factor,
  dimension: 'm3',
  names,
  ...more,
});
const mass = (factor: string, names: readonly string[] = [], more: Partial<UnitSpec> = {}): UnitSpec => ({
  factor,
  dimension: 'kg',
  names,
  ...more,
});
const time = (factor: string, names: readonly string[] = [], more: Partial<UnitSpec> = {}): UnitSpec => ({
  factor,
  dimension: 's',
  names,
  ...more,
});
const energy = (factor: string, names: readonly string[] = [], more: Partial<UnitSpec> = {}): UnitSpec => ({
  factor,
  dimension: 'kg m2 s-2',
  names,
  ...more,
});
const pressure = (factor: string, names: readonly string[] = [], more: Partial<UnitSpec> = {}): UnitSpec => ({
  factor,
  dimension: 'kg m-1 s-2',
  names,
  ...more,
});
const power = (factor: string, names: readonly string[] = [], more: Partial<UnitSpec> = {}): UnitSpec => ({
  factor,
  dimension: 'kg m2 s-3',
  names,
  ...more,
});
const si = { prefixes: 'si' } as const;

const usGallon = '0.003785411784';
const imperialGallon = '0.00454609';
const us = (word: string): { note: string } => ({ note: `"${word}" was taken as the US one; the imperial one is imp_${word}.` });

export const unitTable: Readonly<Record<string, UnitSpec>> = {
  m: length('1', ['meter', 'metre'], si),
  in: length('0.0254', ['inch', 'inches', '"']),
  ft: length('0.3048', ['foot', 'feet', "'"]),
  yd: length('0.9144', ['yard']),
  mi: length('1609.344', ['mile']),
  nmi: length('1852', ['nautical_mile', 'NM']),
  au: length('149597870700', ['astronomical_unit']),
  ly: length('9460730472580800', ['light_year', 'lightyear']),
  pc: { ...length('149597870700', ['parsec']), factor: '96939420213600000', pi: -1, prefixes: 'si' },
  angstrom: length('1e-10', ['Å', 'ångström', 'ångstrom']),
  furlong: length('201.168'),
  chain: length('20.1168'),
  fathom: length('1.8288'),

  ha: area('10000', ['hectare']),
  are: area('100'),
  acre: area('4046.8564224', ['ac']),

  l: volume('0.001', ['L', 'liter', 'litre'], si),
  gal: volume(usGallon, ['gallon'], us('gal')),
  us_gal: volume(usGallon, ['us_gallon']),
  imp_gal: volume(imperialGallon, ['imp_gallon', 'imperial_gallon', 'uk_gal', 'uk_gallon']),
  qt: volume(`${usGallon}/4`, ['quart', 'us_qt'], us('qt')),
  imp_qt: volume(`${imperialGallon}/4`, ['imp_quart', 'imperial_quart', 'uk_quart']),
  pt: volume(`${usGallon}/8`, ['pint', 'us_pt', 'us_pint'], us('pt')),
  imp_pt: volume(`${imperialGallon}/8`, ['imp_pint', 'imperial_pint', 'uk_pint']),
  cup: volume(`${usGallon}/16`, ['us_cup'], { note: '"cup" was taken as the US customary cup (236.5882365 mL).' }),
  fl_oz: volume(`${usGallon}/128`, ['fluid_ounce', 'us_fl_oz', 'floz'], us('fl_oz')),
  imp_fl_oz: volume(`${imperialGallon}/160`, ['imp_fluid_ounce', 'imperial_fluid_ounce', 'uk_fluid_ounce', 'uk_fl_oz']),
  tbsp: volume(`${usGallon}/256`, ['tablespoon'], { note: '"tbsp" was taken as the US tablespoon (14.78676478125 mL).' }),
  tsp: volume(`${usGallon}/768`, ['teaspoon'], { note: '"tsp" was taken as the US teaspoon (4.92892159375 mL).' }),
  bbl: volume('0.158987294928', ['oil_barrel'], { note: '"bbl" was taken as the oil barrel of 42 US gallons.' }),

  g: mass('0.001', ['gram', 'gramme'], si),
  t: mass('1000', ['tonne', 'metric_ton', 'metric_tonne'], { prefixes: 'si' }),
  lb: mass('0.45359237', ['lbs', 'pound']),
  oz: mass('0.45359237/16', ['ounce'], { note: '"oz" was taken as the avoirdupois ounce; the volume is fl_oz, for gold use ozt.' }),
  ozt: mass('0.0311034768', ['troy_ounce', 'oz_t', 'troy_oz']),
  st: mass('6.35029318', ['stone']),
  gr: mass('0.00006479891', ['grain']),
  ct: mass('0.0002', ['carat']),
  short_ton: mass('907.18474', ['us_ton']),
  long_ton: mass('1016.0469088', ['imperial_ton', 'uk_ton']),
  slug: mass('0.45359237*9.80665/0.3048'),

  s: time('1', ['sec', 'second'], si),
  min: time('60', ['minute']),
  h: time('3600', ['hr', 'hour']),
  d: time('86400', ['day']),
  week: time('604800', ['wk']),
  fortnight: time('1209600'),
  julian_year: time('31557600', ['a'], { note: 'A Julian year has 365.25 days; for calendar years use date_diff.' }),

  kn: { factor: '1852/3600', dimension: 'm s-1', names: ['knot'] },
  mph: { factor: '1609.344/3600', dimension: 'm s-1' },
  kph: { factor: '1/3.6', dimension: 'm s-1', names: ['kmh'] },
  fps: { factor: '0.3048', dimension: 'm s-1' },
  c: { factor: '299792458', dimension: 'm s-1', names: ['speed_of_light'] },
  gn: { factor: '9.80665', dimension: 'm s-2', names: ['standard_gravity'] },

  N: { factor: '1', dimension: 'kg m s-2', names: ['newton'], ...si },
  lbf: { factor: '0.45359237*9.80665', dimension: 'kg m s-2', names: ['pound_force'] },
  kgf: { factor: '9.80665', dimension: 'kg m s-2', names: ['kilopond', 'kp'] },
  dyn: { factor: '0.00001', dimension: 'kg m s-2', names: ['dyne'] },

  Pa: pressure('1', ['pascal'], si),
  bar: pressure('100000', [], si),
  atm: pressure('101325', ['atmosphere']),
  at: pressure('98066.5', ['technical_atmosphere']),
  psi: pressure('0.45359237*9.80665/0.0254/0.0254'),
  Torr: pressure('101325/760', ['torr']),
  mmHg: pressure('133.322387415'),
  inHg: pressure('133.322387415*25.4'),

  J: energy('1', ['joule'], si),
  eV: energy('1.602176634e-19', ['electronvolt'], si),
  cal: energy('4.184', ['calorie'], { prefixes: 'si', note: 'The thermochemical calorie of 4.184 J was taken.' }),
  Cal: energy('4184', ['food_calorie'], { note: '"Cal" was taken as the food calorie (1000 cal).' }),
  Nm: energy('1', ['newton_meter', 'newton_metre'], si),
  Wh: energy('3600', ['watt_hour'], si),
  Btu: energy('1055.05585262', ['BTU'], { note: 'The international table Btu (1055.05585262 J) was taken.' }),
  therm: energy('105505585.262', [], { note: 'The therm of 100,000 international table Btu was taken.' }),
  erg: energy('0.0000001'),

  W: power('1', ['watt'], si),
  hp: power('0.45359237*9.80665*0.3048*550', ['horsepower'], { note: 'The mechanical horsepower was taken; the metric one is PS.' }),
  PS: power('735.49875', ['metric_hp', 'pferdestärke', 'cv']),

  A: { factor: '1', dimension: 'A', names: ['ampere', 'amp'], ...si },
  C: { factor: '1', dimension: 'A s', names: ['coulomb'], ...si },
  Ah: { factor: '3600', dimension: 'A s', names: ['ampere_hour'], ...si },
  V: { factor: '1', dimension: 'kg m2 s-3 A-1', names: ['volt'], ...si },
  ohm: { factor: '1', dimension: 'kg m2 s-3 A-2', names: ['Ω'], ...si },
  mol: { factor: '1', dimension: 'mol', names: ['mole'], ...si },
  cd: { factor: '1', dimension: 'cd', names: ['candela'], ...si },
  Hz: { factor: '1', dimension: 's-1', names: ['hertz'], ...si },
  rpm: { factor: '1/60', dimension: 's-1' },

  bit: { factor: '1', dimension: 'bit', names: ['b'], prefixes: 'binary and si' },
  B: { factor: '8', dimension: 'bit', names: ['byte'], prefixes: 'binary and si' },
  bps: { factor: '1', dimension: 'bit s-1', prefixes: 'si' },

  rad: { factor: '1', dimension: 'rad', names: ['radian'], ...si },
  deg: { factor: '1/180', dimension: 'rad', pi: 1, names: ['°', 'degree'] },
  arcmin: { factor: '1/10800', dimension: 'rad', pi: 1, names: ['arcminute'] },
  arcsec: { factor: '1/648000', dimension: 'rad', pi: 1, names: ['arcsecond'] },
  gon: { factor: '1/200', dimension: 'rad', pi: 1, names: ['grad', 'gradian'] },
  turn: { factor: '2', dimension: 'rad', pi: 1, names: ['revolution', 'rev'] },

  percent: { factor: '1/100', dimension: '', names: ['%', 'pct'] },
  permille: { factor: '1/1000', dimension: '', names: ['‰'] },
  ppm: { factor: '1/1000000', dimension: '' },
  one: { factor: '1', dimension: '', names: ['1'] },
};

/** Powers of ten by symbol and by name. */
export const siPrefixes: Readonly<Record<string, { name: string; exponent: number }>> = {
  Q: { name: 'quetta', exponent: 30 },
  R: { name: 'ronna', exponent: 27 },
  Y: { name: 'yotta', exponent: 24 },
  Z: { name: 'zetta', exponent: 21 },
  E: { name: 'exa', exponent: 18 },
  P: { name: 'peta', exponent: 15 },
  T: { name: 'tera', exponent: 12 },
  G: { name: 'giga', exponent: 9 },
  M: { name: 'mega', exponent: 6 },
  k: { name: 'kilo', exponent: 3 },
  h: { name: 'hecto', exponent: 2 },
  da: { name: 'deca', exponent: 1 },
  d: { name: 'deci', exponent: -1 },
  c: { name: 'centi', exponent: -2 },
  m: { name: 'milli', exponent: -3 },
  µ: { name: 'micro', exponent: -6 },
  μ: { name: 'micro', exponent: -6 },
  u: { name: 'micro', exponent: -6 },
  n: { name: 'nano', exponent: -9 },
  p: { name: 'pico', exponent: -12 },
  f: { name: 'femto', exponent: -15 },
  a: { name: 'atto', exponent: -18 },
  z: { name: 'zepto', exponent: -21 },
  y: { name: 'yocto', exponent: -24 },
};

/** Powers of 1024 (IEC 80000-13). */
export const binaryPrefixes: Readonly<Record<string, { name: string; exponent: number }>> = {
  Ki: { name: 'kibi', exponent: 1 },
  Mi: { name: 'mebi', exponent: 2 },
  Gi: { name: 'gibi', exponent: 3 },
  Ti: { name: 'tebi', exponent: 4 },
  Pi: { name: 'pebi', exponent: 5 },
  Ei: { name: 'exbi', exponent: 6 },
  Zi: { name: 'zebi', exponent: 7 },
  Yi: { name: 'yobi', exponent: 8 },
};

/** Words that are not a unit by themselves, each with what to write instead. */
export const ambiguousUnits: Readonly<Record<string, string>> = {
  ton: 'write t (1000 kg), short_ton (US) or long_ton (UK)',
  tons: 'write t (1000 kg), short_ton (US) or long_ton (UK)',
  kt: 'write kn (knots) or 1000 t',
  barrel: 'write bbl for the oil barrel',
  month: 'months differ in length: use date_add or date_diff, or write days',
  months: 'months differ in length: use date_add or date_diff, or write days',
  year: 'years differ in length: write julian_year (365.25 d) or days, or use date_diff',
  years: 'years differ in length: write julian_year (365.25 d) or days, or use date_diff',
};
