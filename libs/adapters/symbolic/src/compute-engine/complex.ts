/** A complex number by floating point. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}

export const real = (re: number): Complex => ({ re, im: 0 });
export const i: Complex = { re: 0, im: 1 };

export const add = (a: Complex, b: Complex): Complex => ({ re: a.re + b.re, im: a.im + b.im });
export const subtract = (a: Complex, b: Complex): Complex => ({ re: a.re - b.re, im: a.im - b.im });
export const times = (a: Complex, b: Complex): Complex =>
  // Infinity times the 0 of a real number is no part of the product.
  a.im === 0 && b.im === 0 ? real(a.re * b.re) : { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re };
export const scale = (a: Complex, by: number): Complex => ({ re: a.re * by, im: a.im === 0 ? 0 : a.im * by });
export const size = (a: Complex): number => Math.hypot(a.re, a.im);

export function over(a: Complex, b: Complex): Complex {
  if (b.im === 0) return { re: a.re / b.re, im: a.im === 0 ? 0 : a.im / b.re };
  const square = b.re ** 2 + b.im ** 2;
  return { re: (a.re * b.re + a.im * b.im) / square, im: (a.im * b.re - a.re * b.im) / square };
}

export const exp = ({ re, im }: Complex): Complex =>
  im === 0 ? real(Math.exp(re)) : { re: Math.exp(re) * Math.cos(im), im: Math.exp(re) * Math.sin(im) };
/** Principal value. */
export const ln = (a: Complex): Complex => ({ re: Math.log(size(a)), im: Math.atan2(a.im, a.re) });

/** Principal value; exact signs for whole exponents of real numbers. */
export function power(base: Complex, exponent: Complex): Complex {
  if (base.im === 0 && exponent.im === 0 && (base.re >= 0 || Number.isInteger(exponent.re))) return real(base.re ** exponent.re);
  if (exponent.im === 0 && Number.isInteger(exponent.re) && Math.abs(exponent.re) <= 64) {
    let value = real(1);
    for (let n = 0; n < Math.abs(exponent.re); n += 1) value = times(value, base);
    return exponent.re < 0 ? over(real(1), value) : value;
  }
  if (size(base) === 0) return real(exponent.re > 0 ? 0 : NaN);
  return exp(times(exponent, ln(base)));
}
export const sqrt = (a: Complex): Complex => power(a, real(0.5));

const turned = (a: Complex): Complex => times(i, a);
export const sinh = (a: Complex): Complex => (a.im === 0 ? real(Math.sinh(a.re)) : scale(subtract(exp(a), exp(scale(a, -1))), 0.5));
export const cosh = (a: Complex): Complex => (a.im === 0 ? real(Math.cosh(a.re)) : scale(add(exp(a), exp(scale(a, -1))), 0.5));
export const sin = (a: Complex): Complex => (a.im === 0 ? real(Math.sin(a.re)) : scale(turned(sinh(turned(a))), -1));
export const cos = (a: Complex): Complex => (a.im === 0 ? real(Math.cos(a.re)) : cosh(turned(a)));
export const tan = (a: Complex): Complex => over(sin(a), cos(a));
export const tanh = (a: Complex): Complex => over(sinh(a), cosh(a));

/** Inverse functions by their logarithms, principal values. */
export const asinh = (a: Complex): Complex => (a.im === 0 ? real(Math.asinh(a.re)) : ln(add(a, sqrt(add(times(a, a), real(1))))));
export const acosh = (a: Complex): Complex => ln(add(a, times(sqrt(add(a, real(1))), sqrt(subtract(a, real(1))))));
export const atanh = (a: Complex): Complex => scale(subtract(ln(add(real(1), a)), ln(subtract(real(1), a))), 0.5);
export const asin = (a: Complex): Complex =>
  a.im === 0 && Math.abs(a.re) <= 1 ? real(Math.asin(a.re)) : scale(turned(ln(add(turned(a), sqrt(subtract(real(1), times(a, a)))))), -1);
export const acos = (a: Complex): Complex => subtract(real(Math.PI / 2), asin(a));
export const atan = (a: Complex): Complex => (a.im === 0 ? real(Math.atan(a.re)) : scale(turned(atanh(turned(a))), -1));
