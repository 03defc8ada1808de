export const real = (re) => ({ re, im: 0 });
export const i = { re: 0, im: 1 };

export const add = (a, b) => ({ re: a.re + b.re, im: a.im + b.im });
export const subtract = (a, b) => ({ re: a.re - b.re, im: a.im - b.im });
export const times = (a, b) =>
  // Infinity times the 0 of a real number does not contribute to the product.
  a.im === 0 && b.im === 0 ? real(a.re * b.re) : { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re };
export const scale = (a, by) => ({ re: a.re * by, im: a.im === 0 ? 0 : a.im * by });
export const size = (a) => Math.hypot(a.re, a.im);

export function over(a, b) {
  if (b.im === 0) return { re: a.re / b.re, im: a.im === 0 ? 0 : a.im / b.re };
  const square = b.re ** 2 + b.im ** 2;
  return { re: (a.re * b.re + a.im * b.im) / square, im: (a.im * b.re - a.re * b.im) / square };
}

export const exp = ({ re, im }) => (im === 0 ? real(Math.exp(re)) : { re: Math.exp(re) * Math.cos(im), im: Math.exp(re) * Math.sin(im) });
/** Principal value. */
export const ln = (a) => ({ re: Math.log(size(a)), im: Math.atan2(a.im, a.re) });

/** Principal value; exact signs for whole exponents of real numbers. */
export function power(base, exponent) {
  if (base.im === 0 && exponent.im === 0 && (base.re >= 0 || Number.isInteger(exponent.re))) return real(base.re ** exponent.re);
  if (exponent.im === 0 && Number.isInteger(exponent.re) && Math.abs(exponent.re) <= 64) {
    let value = real(1);
    for (let n = 0; n < Math.abs(exponent.re); n += 1) value = times(value, base);
    return exponent.re < 0 ? over(real(1), value) : value;
  }
  if (size(base) === 0) return real(exponent.re > 0 ? 0 : NaN);
  return exp(times(exponent, ln(base)));
}
export const sqrt = (a) => power(a, real(0.5));

const turned = (a) => times(i, a);
export const sinh = (a) => (a.im === 0 ? real(Math.sinh(a.re)) : scale(subtract(exp(a), exp(scale(a, -1))), 0.5));
export const cosh = (a) => (a.im === 0 ? real(Math.cosh(a.re)) : scale(add(exp(a), exp(scale(a, -1))), 0.5));
export const sin = (a) => (a.im === 0 ? real(Math.sin(a.re)) : scale(turned(sinh(turned(a))), -1));
export const cos = (a) => (a.im === 0 ? real(Math.cos(a.re)) : cosh(turned(a)));
export const tan = (a) => over(sin(a), cos(a));
export const tanh = (a) => over(sinh(a), cosh(a));

/** Inverse functions by their logarithms, principal values. */
export const asinh = (a) => (a.im === 0 ? real(Math.asinh(a.re)) : ln(add(a, sqrt(add(times(a, a), real(1))))));
export const acosh = (a) => ln(add(a, times(sqrt(add(a, real(1))), sqrt(subtract(a, real(1))))));
export const atanh = (a) => scale(subtract(ln(add(real(1), a)), ln(subtract(real(1), a))), 0.5);
export const asin = (a) =>
  a.im === 0 && Math.abs(a.re) <= 1 ? real(Math.asin(a.re)) : scale(turned(ln(add(turned(a), sqrt(subtract(real(1), times(a, a)))))), -1);
export const acos = (a) => subtract(real(Math.PI / 2), asin(a));
export const atan = (a) => (a.im === 0 ? real(Math.atan(a.re)) : scale(turned(atanh(turned(a))), -1));
