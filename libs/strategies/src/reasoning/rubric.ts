import type { Rubric } from '@conclave/contracts';

export type Quality = 'good' | 'partial' | 'failed';

/** Mean of the four scores, rounded to two digits. */
export const meanOf = (rubric: Rubric): number => {
  const scores = Object.values(rubric);
  return Math.round((scores.reduce((sum, score) => sum + score, 0) / scores.length) * 100) / 100;
};

/** Quality, always derived from the mean: the model's own words about the quality do not count. */
export const qualityOf = (mean: number): Quality => (mean >= 3.5 ? 'good' : mean >= 2 ? 'partial' : 'failed');

/** How the means of the last three evaluations change from one to the next; null before the first. */
export function trendOf(means: readonly number[]): 'improving' | 'stable' | 'DEGRADING' | null {
  const last = means.slice(-3);
  if (last.length === 0) return null;
  // Rounded, so that a difference of exactly 0.3 is not decided by binary fractions.
  const slope = last.length < 2 ? 0 : Math.round(((last.at(-1)! - last[0]!) / (last.length - 1)) * 1_000) / 1_000;
  return slope > 0.3 ? 'improving' : slope < -0.3 ? 'DEGRADING' : 'stable';
}
