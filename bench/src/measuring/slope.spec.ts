import { describe, expect, it } from '@jest/globals';
import { slopeOf } from './slope.js';

const points = (...ys: number[]) => ys.map((y, x) => ({ x, y }));

describe('the slope of a series', () => {
  it('is that of the line through all points, with an error of zero', () => {
    expect(slopeOf(points(1, 3, 5, 7))).toEqual({ perUnit: 2, error: 0 });
  });

  it('has the error of least squares', () => {
    // Sum of squares about the line: 0.7; divided by two degrees of freedom and by 5, the spread of x.
    const { perUnit, error } = slopeOf(points(0, 1, 1, 3));
    expect(perUnit).toBeCloseTo(0.9);
    expect(error).toBeCloseTo(Math.sqrt(0.7 / 2 / 5));
  });

  it('is refused if it is undefined', () => {
    expect(() => slopeOf(points(1, 2))).toThrow('2 points');
    expect(() => slopeOf([1, 2, 3].map((y) => ({ x: 1, y })))).toThrow('same x');
  });
});
