/** Slope of a straight line through a series, with its error. */
export interface Slope {
  /** Units of y for one unit of x. */
  readonly perUnit: number;
  /** Standard error of the slope, assuming independent deviations from the line. */
  readonly error: number;
}

/** Ordinary least squares. Throws RangeError for fewer than three points, or if all have the same x. */
export function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): Slope {
  const n = points.length;
  if (n < 3) throw new RangeError(`${n} points have no slope with an error.`);
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / n;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / n;
  const xx = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  if (xx === 0) throw new RangeError('All points have the same x.');
  const perUnit = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / xx;
  const left = points.reduce((sum, { x, y }) => sum + (y - meanY - perUnit * (x - meanX)) ** 2, 0);
  return { perUnit, error: Math.sqrt(left / (n - 2) / xx) };
}
