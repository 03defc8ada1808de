const english =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen';
const german =
  'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn';
const englishTens = 'twenty thirty forty fifty sixty seventy eighty ninety';
const germanTens = 'zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig';
const englishOrdinals = 'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth';
const germanOrdinals = 'erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft';

const values = new Map<string, number>();
for (const list of [english, german]) list.split(' ').forEach((word, value) => values.set(word, value));
for (const list of [englishTens, germanTens]) list.split(' ').forEach((word, index) => values.set(word, 20 + 10 * index));
values.set('dozen', 12).set('dutzend', 12).set('zwo', 2);
englishOrdinals.split(' ').forEach((word, index) => values.set(word, index + 1));
germanOrdinals.split(' ').forEach((word, index) => {
  for (const ending of ['e', 'en', 'er', 'es', 'em']) values.set(word + ending, index + 1);
});
const germanUnits = german.replace('null eins', 'ein').split(' ').slice(0, 9);
germanTens
  .split(' ')
  .forEach((ten, index) => germanUnits.forEach((unit, one) => values.set(`${unit}und${ten}`, 20 + 10 * index + one + 1)));

/** Value of a number word in either language; undefined for other words. */
export const valueOfWord = (word: string): number | undefined => values.get(word);

/**
 * Digits in one spelling: 2,340 equals 2340, and 0,5 equals 0.5. A single group of three after a point is a fraction in English and
 * thousands in German. Trailing zeros stay: 3.1 and 3.10 are two versions.
 */
export function canonicalDigits(digits: string, language: 'en' | 'de' | null): string {
  const plain = digits.replace(/[.,]+$/u, '').replace(/(?<=\d)[ _'](?=\d{3})/gu, '');
  const grouped = (separator: string): boolean => new RegExp(`^-?\\d{1,3}(?:[${separator}]\\d{3})+(?:[.,]\\d+)?$`, 'u').test(plain);
  const groupedByPoint = grouped('.') && (language === 'de' || plain.split('.').length > 2);
  const groupedByComma = grouped(',') && (language !== 'de' || plain.split(',').length > 2);
  if (groupedByPoint) return strip(plain.replaceAll('.', '').replace(',', '.'));
  if (groupedByComma) return strip(plain.replaceAll(',', ''));
  return strip(plain.split('.').length > 2 ? plain : plain.replace(',', '.'));
}

const strip = (digits: string): string => digits.replace(/^(-?)0+(?=\d)/u, '$1');

/** Spelling of a unit -> its canonical name. Different units make different questions even if one converts to the other. */
export const unitOf: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '%': '% percent prozent percentage per-cent',
    '‰': '‰ permille promille',
    $: '$ dollar dollars usd bucks',
    '€': '€ euro euros eur',
    '£': '£ gbp',
    pound: 'pound pounds pfund lb lbs',
    '¥': '¥ yen jpy',
    chf: 'chf franken francs',
    yuan: 'yuan renminbi cny',
    rupee: 'rupee rupees rupien inr',
    bitcoin: 'bitcoin bitcoins btc',
    km: 'km kilometer kilometers kilometre kilometres kilometern',
    m: 'm meter meters metre metres metern',
    cm: 'cm centimeter centimeters centimetre centimetres zentimeter zentimetern',
    mm: 'mm millimeter millimeters millimetre millimetres millimetern',
    mile: 'mi mile miles meile meilen',
    foot: 'ft foot feet fuß',
    inch: 'inch inches zoll',
    yard: 'yard yards',
    'light-year': 'light-year light-years lichtjahr lichtjahre lichtjahren',
    kg: 'kg kilo kilos kilogram kilograms kilogramm',
    g: 'g gram grams gramm',
    mg: 'mg milligram milligrams milligramm',
    ounce: 'oz ounce ounces unze unzen',
    stone: 'stone stones',
    ton: 'ton tons tonne tonnes tonnen',
    l: 'l liter liters litre litres litern',
    ml: 'ml milliliter millilitre milliliters millilitres',
    gallon: 'gallon gallons gallone gallonen',
    pint: 'pint pints',
    cup: 'cup cups tasse tassen',
    tablespoon: 'tbsp tablespoon tablespoons esslöffel el',
    teaspoon: 'tsp teaspoon teaspoons teelöffel tl',
    '°c': '°c celsius',
    '°f': '°f fahrenheit',
    k: 'kelvin',
    mph: 'mph',
    'km/h': 'km/h kmh kph',
    knot: 'knot knots knoten',
    'm/s': 'm/s',
    j: 'joule joules',
    kwh: 'kwh kilowattstunde kilowattstunden',
    cal: 'calorie calories kcal kalorie kalorien',
    w: 'watt watts',
    kw: 'kw kilowatt kilowatts',
    hp: 'hp horsepower ps',
    volt: 'volt volts',
    ampere: 'amp amps ampere amperes',
    bit: 'bit bits',
    byte: 'byte bytes',
    kb: 'kilobyte kilobytes',
    mb: 'megabyte megabytes',
    gb: 'gigabyte gigabytes',
    tb: 'terabyte terabytes',
    kib: 'kib',
    mib: 'mib',
    gib: 'gib',
    acre: 'acre acres',
    hectare: 'hectare hectares hektar ha',
    bar: 'bar',
    psi: 'psi',
    pascal: 'pascal',
    second: 's seconds sekunde sekunden',
    minute: 'minute minutes minuten',
    hour: 'hour hours stunde stunden',
    day: 'day days tag tage tagen',
    week: 'week weeks woche wochen',
    month: 'month months monat monate monaten',
    year: 'year years jahr jahre jahren',
    decade: 'decade decades jahrzehnt jahrzehnte',
  }).flatMap(([name, spellings]) => spellings.split(' ').map((spelling) => [spelling, name] as const)),
);

const monthNames = [
  'january januar jan jänner',
  'february februar feb',
  'march märz mar',
  'april apr',
  'may mai',
  'june juni jun',
  'july juli jul',
  'august aug',
  'september sep sept',
  'october oktober oct okt',
  'november nov',
  'december dezember dec dez',
];
/** Months 1 to 12 by name, in both languages. */
export const monthOf: ReadonlyMap<string, number> = new Map(
  monthNames.flatMap((names, index) => names.split(' ').map((name) => [name, index + 1] as const)),
);
