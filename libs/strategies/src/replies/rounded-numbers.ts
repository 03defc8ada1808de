/** Fewest significant digits of a shortened number: "about 2" is no reading of 1.864. */
const fewestDigits = 3;
/** Numbers with more digits are not shortened by anybody. */
const mostDigits = 60;

interface Decimal {
  readonly whole: string;
  readonly fraction: string;
}

/** How a number as it is written may be read: 1.864 is a decimal, or 1864 with a separator of thousands. */
function decimalsOf(text: string): readonly Decimal[] {
  const bare = text.replace(/^[+\-−]/, '').replace(/['\u00a0\u202f]/g, '');
  if (bare.length > mostDigits) return [];
  const separators = bare.match(/[.,]/g) ?? [];
  const last = separators.at(-1);
  const isGrouped = separators.length > 0 && /^[1-9]\d{0,2}([.,]\d{3})+$/.test(bare) && new Set(separators).size === 1;
  const digits = (part: string): string => part.replace(/[.,]/g, '');
  const at = last === undefined ? bare.length : bare.lastIndexOf(last);
  // The same separator twice is no decimal point.
  const isDecimal = separators.filter((one) => one === last).length <= 1;
  return [
    ...(isGrouped ? [{ whole: digits(bare), fraction: '' }] : []),
    ...(isDecimal ? [{ whole: digits(bare.slice(0, at)), fraction: bare.slice(at + 1) }] : []),
  ];
}

const key = (digits: bigint, decimals: number): string => `${digits}/${decimals}`;

/** Every number that shortens one of these: rounded or cut off, to any number of decimals below its own. */
export function shortenedNumbers(numbers: readonly string[]): ReadonlySet<string> {
  const shortened = new Set<string>();
  for (const { whole, fraction } of numbers.flatMap(decimalsOf))
    for (let decimals = 0; decimals < fraction.length; decimals += 1) {
      const cut = BigInt(whole + fraction.slice(0, decimals));
      shortened.add(key(cut, decimals));
      if (fraction[decimals]! >= '5') shortened.add(key(cut + 1n, decimals));
    }
  return shortened;
}

/** Whether a number as it is written shortens one of those, at its own number of decimals. */
export const shortens = (text: string, shortened: ReadonlySet<string>): boolean =>
  decimalsOf(text).some(({ whole, fraction }) => {
    const digits = BigInt(whole + fraction);
    return String(digits).length >= fewestDigits && shortened.has(key(digits, fraction.length));
  });
