import { describe, expect, it } from '@jest/globals';
import { digits, quantile, ratios, resampledQuantile, spread } from './statistics.js';

describe('statistics', () => {
  it('interpolates quantiles between the closest ranks', () => {
    const values = [40, 10, 30, 20];
    expect(quantile(values, 0)).toBe(10);
    expect(quantile(values, 0.5)).toBe(25);
    expect(quantile(values, 0.99)).toBeCloseTo(39.7, 10);
    expect(quantile(values, 1)).toBe(40);
    expect(values).toEqual([40, 10, 30, 20]);
  });

  it('orders numbers by size, not by their digits', () => {
    expect(quantile([9, 100, 20], 1)).toBe(100);
  });

  it('returns quartiles and the size of a series', () => {
    expect(spread([1, 2, 3, 4, 5])).toEqual({ n: 5, q1: 2, median: 3, q3: 4 });
  });

  it('refuses an empty series and values that are not numbers', () => {
    expect(() => spread([])).toThrow('empty');
    expect(() => quantile([1, Number.NaN], 0.5)).toThrow('NaN');
  });

  it('pairs rounds and refuses series of different length', () => {
    expect(ratios([2, 9], [1, 3])).toEqual([2, 3]);
    expect(() => ratios([1], [1, 2])).toThrow('cannot be paired');
  });

  it('returns the tail of all samples with its bootstrap spread', () => {
    const samples = Array.from({ length: 100 }, (_, index) => index);
    const tail = resampledQuantile(samples, 0.99);
    expect(tail.median).toBe(quantile(samples, 0.99));
    expect(tail.n).toBe(100);
    expect(tail.q1).toBeLessThanOrEqual(tail.q3);
    expect(tail.q3).toBeLessThanOrEqual(99);
  });

  it('shows four digits, so that a missed target does not look met', () => {
    expect(digits(2.996)).toBe('2.996');
    expect(digits(0.04567)).toBe('0.04567');
    expect(digits(12_345.6)).toBe('12346');
  });
});
