import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ask, refusalOf } from '../__fixtures__/ask.js';
import { primalityOf } from './primes.js';

describe('prime_factorize', () => {
  it('agrees with trial division', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 300_000 }), (n) => {
        const divided: string[] = [];
        let rest = n;
        for (let p = 2; rest > 1; p += 1) {
          let exponent = 0;
          for (; rest % p === 0; rest /= p) exponent += 1;
          if (exponent > 0) divided.push(exponent > 1 ? `${p}^${exponent}` : `${p}`);
        }
        expect(ask('prime_factorize', { n })).toMatchObject({ factorization: divided.join(' * '), is_prime: divided.join() === `${n}` });
      }),
    );
  });

  it('finds the primes below 20,000 that a sieve leaves', () => {
    const composite = new Uint8Array(20_000);
    for (let p = 2; p * p < 20_000; p += 1) for (let m = p * p; m < 20_000; m += p) composite[m] = 1;
    const wrong = Array.from({ length: 19_998 }, (_, i) => i + 2).filter(
      (n) => (primalityOf(BigInt(n)) === 'prime') !== (composite[n] === 0),
    );
    expect(wrong).toEqual([]);
  });

  it('factors the product of two large primes', () => {
    const large = fc.bigInt({ min: 10n ** 8n, max: 10n ** 9n }).map((n) => {
      for (let p = n | 1n; ; p += 2n) if (primalityOf(p) === 'prime') return p;
    });
    fc.assert(
      fc.property(large, large, (p, q) => {
        const { factors } = ask('prime_factorize', { n: (p * q).toString() }) as { factors: { prime: string; exponent: number }[] };
        const found = factors.flatMap(({ prime, exponent }) => Array.from({ length: exponent }, () => BigInt(prime)));
        expect(found.reduce((a, b) => a * b)).toBe(p * q);
        expect(found).toHaveLength(2);
      }),
      { numRuns: 15 },
    );
  });

  it.each(['561', '3215031751', '3825123056546413051', '318665857834031151167461'])('recognises the pseudoprime %s as composite', (n) => {
    expect(primalityOf(BigInt(n))).toBe('composite');
  });

  it('reports a large prime that is only probable', () => {
    expect(ask('prime_factorize', { n: (2n ** 127n - 1n).toString() })).toMatchObject({ is_prime: true, certain: false });
  });

  it.each([
    [1, '2 or more'],
    [-7, '2 or more'],
    [1.5, 'whole number'],
    [2 ** 60, 'as text'],
    ['9'.repeat(200), '100 digits'],
    ['x', 'not a number'],
  ])('refuses %s', (n, words) => expect(refusalOf('prime_factorize', { n })).toContain(words));
});

describe('gcd_lcm', () => {
  it('agrees with trying every divisor', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 600 }), (a, b) => {
        let [gcd, lcm] = [Math.min(a, b), Math.max(a, b)];
        while (a % gcd !== 0 || b % gcd !== 0) gcd -= 1;
        while (lcm % a !== 0 || lcm % b !== 0) lcm += 1;
        expect(ask('gcd_lcm', { a, b: -b })).toEqual({ gcd: `${gcd}`, lcm: `${lcm}`, coprime: gcd === 1 });
      }),
    );
    expect(ask('gcd_lcm', { a: 0, b: 0 })).toEqual({ gcd: '0', lcm: '0', coprime: false });
  });
});

describe('roman_numeral', () => {
  const places = [
    ['', 'M', 'MM', 'MMM'],
    ['', 'C', 'CC', 'CCC', 'CD', 'D', 'DC', 'DCC', 'DCCC', 'CM'],
    ['', 'X', 'XX', 'XXX', 'XL', 'L', 'LX', 'LXX', 'LXXX', 'XC'],
    ['', 'I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX'],
  ];

  it('agrees with the table of thousands, hundreds, tens and ones, both ways', () => {
    for (let n = 1; n < 4_000; n += 17) {
      const roman = String(n)
        .padStart(4, '0')
        .split('')
        .map((digit, place) => places[place]![Number(digit)]!)
        .join('');
      expect(ask('roman_numeral', { value: n })).toEqual({ number: n, roman });
      expect(ask('roman_numeral', { value: roman.toLowerCase() })).toEqual({ number: n, roman });
    }
  });

  it.each([0, 4_000, 'IIII', 'VX', 'IC', 'MMMM', 'XIVI', '2.5', 'hello'])('refuses %s', (value) => {
    expect(refusalOf('roman_numeral', { value })).toMatch(/^INVALID_ARGUMENT/);
  });
});
