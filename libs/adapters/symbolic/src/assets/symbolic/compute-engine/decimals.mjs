/** Decimal value with `precision` significant digits; a terminating fraction is written in full. Null if there is no number. */
export function decimalOf(tree, parts, precision) {
  const exact = fractionOf(tree);
  const whole = exact && finite(exact, Math.max(precision, 30));
  if (whole) return whole;
  if (!parts || parts.re === null || parts.im === null) return null;
  const [re, im] = [rounded(parts.re, precision), rounded(parts.im, precision)];
  if (re === null || im === null) return null;
  if (im === '0') return re;
  const imaginary = `${im.replace(/^-/, '')}*i`;
  if (re === '0') return im.startsWith('-') ? `-${imaginary}` : imaginary;
  return `${re} ${im.startsWith('-') ? '-' : '+'} ${imaginary}`;
}

/** A number, or a quotient of two, as whole numbers; null for anything else. */
function fractionOf(tree) {
  if (tree.kind === 'number') return /^\d+$/.test(tree.value) ? { over: BigInt(tree.value), under: 1n } : null;
  if (tree.kind === 'negative') {
    const of = fractionOf(tree.of);
    return of && { over: -of.over, under: of.under };
  }
  if (tree.kind !== 'quotient') return null;
  const [over, under] = [fractionOf(tree.over), fractionOf(tree.under)];
  return over?.under === 1n && under?.under === 1n && under.over !== 0n ? { over: over.over, under: under.over } : null;
}

function finite({ over, under }, mostDigits) {
  if (under < 0n) return finite({ over: -over, under: -under }, mostDigits);
  for (let digits = 0, power = 1n; digits <= mostDigits; digits += 1, power *= 10n) {
    if ((over * power) % under !== 0n) continue;
    const value = (over * power) / under;
    if (digits === 0) return String(value);
    const all = String(value < 0n ? -value : value).padStart(digits + 1, '0');
    return `${value < 0n ? '-' : ''}${all.slice(0, -digits)}.${all.slice(-digits)}`;
  }
  return null;
}

/** `1.41421356237309504` with 5 digits is `1.4142`. Null for anything but a number. */
export function rounded(text, precision) {
  const [, sign = '', whole, part = '', exponent = '0'] = /^([-+]?)(\d+)(?:\.(\d+))?(?:e([-+]?\d+))?$/i.exec(text) ?? [];
  if (whole === undefined) return null;
  const all = (whole + part).replace(/^0+/, '');
  if (all === '') return '0';
  let point = whole.length + Number(exponent) - (whole.length + part.length - all.length);
  let digits = all.slice(0, precision);
  if (all.length > precision && all[precision] >= '5') {
    const up = String(BigInt(digits) + 1n);
    point += up.length - digits.length;
    digits = up;
  }
  digits = digits.replace(/0+$/, '');
  const minus = sign === '-' ? '-' : '';
  if (point > precision + 6 || point < -6) return `${minus}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ''}e${point - 1}`;
  if (point <= 0) return `${minus}0.${'0'.repeat(-point)}${digits}`;
  return `${minus}${digits.length <= point ? digits.padEnd(point, '0') : `${digits.slice(0, point)}.${digits.slice(point)}`}`;
}
