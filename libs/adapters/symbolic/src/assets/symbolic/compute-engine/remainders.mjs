/** 2^61 - 1: so large that two different numbers of a calculation hardly ever have the same remainder. */
const prime = 2305843009213693951n;

/**
 * Remainder of a number modulo a prime, for numbers too long for floating point: whole numbers and fractions under + - * / ^ and !.
 * Null for everything else.
 */
export function remainderOf(tree) {
  const all = (trees, join) => {
    const values = trees.map(remainderOf);
    return values.includes(null) ? null : values.reduce((a, b) => ((join(a, b) % prime) + prime) % prime);
  };
  switch (tree.kind) {
    case 'number': {
      const [whole = '', part = ''] = tree.value.split('.');
      return divided(BigInt(whole + part) % prime, 10n ** BigInt(part.length));
    }
    case 'sum':
      return all(tree.terms, (a, b) => a + b);
    case 'product':
      return all(tree.factors, (a, b) => a * b);
    case 'negative': {
      const of = remainderOf(tree.of);
      return of === null ? null : (prime - of) % prime;
    }
    case 'quotient': {
      const [over, under] = [remainderOf(tree.over), remainderOf(tree.under)];
      return over === null || under === null ? null : divided(over, under);
    }
    case 'power': {
      const base = remainderOf(tree.base);
      const exponent = wholeOf(tree.exponent);
      if (base === null || exponent === null) return null;
      return exponent < 0n ? divided(1n, raised(base, -exponent)) : raised(base, exponent);
    }
    case 'call': {
      const n = tree.name === 'factorial' ? wholeOf(tree.args[0]) : null;
      if (n === null || n < 0n || n > 6000n) return null;
      let product = 1n;
      for (let k = 2n; k <= n; k += 1n) product = (product * k) % prime;
      return product;
    }
    default:
      return null;
  }
}

function raised(base, exponent) {
  let [value, square, left] = [1n, base % prime, exponent];
  for (; left > 0n; left >>= 1n) {
    if (left & 1n) value = (value * square) % prime;
    square = (square * square) % prime;
  }
  return value;
}

/** By Fermat's little theorem: a^(p-2) is 1/a. */
const divided = (over, under) => (under % prime === 0n ? null : (over * raised(under, prime - 2n)) % prime);

/** The value, not the remainder, of an exponent that is a whole number of at most 12 digits; null for everything else. */
function wholeOf(tree) {
  if (tree.kind === 'number') return /^\d{1,12}$/.test(tree.value) ? BigInt(tree.value) : null;
  if (tree.kind === 'negative') {
    const of = wholeOf(tree.of);
    return of === null ? null : -of;
  }
  if (tree.kind === 'power') {
    const [base, exponent] = [wholeOf(tree.base), wholeOf(tree.exponent)];
    return base !== null && exponent !== null && exponent >= 0n && exponent <= 60n && Number(base) ** Number(exponent) < 1e12
      ? base ** exponent
      : null;
  }
  return null;
}
