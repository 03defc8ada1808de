import { gcdOf, integerRoot } from '../numbers/rational.js';

/** The first thirteen primes as bases decide every number below this one (Sorenson and Webster, 2015). */
const provenBelow = 3_317_044_064_679_887_385_961_981n;
const firstPrimes = [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n, 29n, 31n, 37n, 41n];
/** Above that bound, more bases: a composite number passes each with a probability of at most 1/4. */
const furtherPrimes = [
  43n,
  47n,
  53n,
  59n,
  61n,
  67n,
  71n,
  73n,
  79n,
  83n,
  89n,
  97n,
  101n,
  103n,
  107n,
  109n,
  113n,
  127n,
  131n,
  137n,
  139n,
  149n,
  151n,
  157n,
  163n,
  167n,
  173n,
];

export function powerModulo(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square, left] = [1n, base % modulus, exponent];
  for (; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

export type Primality = 'prime' | 'probable_prime' | 'composite';

/** Miller and Rabin's test with fixed bases: certain below 3.3 * 10^24, "probable_prime" above. */
export function primalityOf(n: bigint): Primality {
  if (n < 2n) return 'composite';
  for (const p of firstPrimes) if (n % p === 0n) return n === p ? 'prime' : 'composite';
  let [odd, twos] = [n - 1n, 0];
  while (odd % 2n === 0n) [odd, twos] = [odd / 2n, twos + 1];
  const proven = n < provenBelow;
  for (const base of proven ? firstPrimes : [...firstPrimes, ...furtherPrimes]) {
    let x = powerModulo(base, odd, n);
    let witness = x !== 1n && x !== n - 1n;
    for (let i = 1; witness && i < twos; i += 1) {
      x = (x * x) % n;
      witness = x !== n - 1n;
    }
    if (witness) return 'composite';
  }
  return proven ? 'prime' : 'probable_prime';
}

/** Steps that one factorisation may take; counted in steps so that the same number always has the same outcome. */
export interface Effort {
  left: number;
}

/** A proper divisor of an odd composite number by Pollard's rho in Brent's form, or null if the effort is used up. */
function divisorOf(n: bigint, effort: Effort): bigint | null {
  const root = integerRoot(n, 2n);
  if (root * root === n) return root;
  for (let c = 1n; effort.left > 0; c += 1n) {
    let [y, x, saved, g, product] = [2n, 2n, 2n, 1n, 1n];
    for (let r = 1; g === 1n && effort.left > 0; r *= 2) {
      x = y;
      for (let i = 0; i < r; i += 1) y = (y * y + c) % n;
      effort.left -= r;
      for (let k = 0; k < r && g === 1n && effort.left > 0; k += 128) {
        saved = y;
        const steps = Math.min(128, r - k);
        for (let i = 0; i < steps; i += 1) {
          y = (y * y + c) % n;
          product = (product * (x > y ? x - y : y - x)) % n;
        }
        effort.left -= steps;
        g = gcdOf(product, n);
      }
    }
    if (g === n || product === 0n) {
      g = 1n;
      for (let y2 = saved; g === 1n && effort.left > 0; effort.left -= 1) {
        y2 = (y2 * y2 + c) % n;
        g = gcdOf(x > y2 ? x - y2 : y2 - x, n);
      }
    }
    if (g !== 1n && g !== n) return g;
  }
  return null;
}

export interface Factorisation {
  /** Primes in ascending order with their exponents. */
  factors: { prime: bigint; exponent: number; primality: Primality }[];
  /** Composite parts that were not split within the effort. */
  unsplit: bigint[];
}

/** Of a whole number above 0; 1 has no factors. */
export function factorise(n: bigint, effort: Effort): Factorisation {
  const counts = new Map<bigint, number>();
  const count = (prime: bigint): void => void counts.set(prime, (counts.get(prime) ?? 0) + 1);
  let rest = n;
  for (let p = 2n; p < 2_000n && p * p <= rest; p += p === 2n ? 1n : 2n) {
    for (; rest % p === 0n; rest /= p) count(p);
  }
  const unsplit: bigint[] = [];
  const open = rest > 1n ? [rest] : [];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part < 4_000_000n || primalityOf(part) !== 'composite') {
      count(part);
      continue;
    }
    const divisor = divisorOf(part, effort);
    if (divisor === null) unsplit.push(part);
    else open.push(divisor, part / divisor);
  }
  const factors = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([prime, exponent]) => ({ prime, exponent, primality: primalityOf(prime) }));
  return { factors, unsplit };
}
