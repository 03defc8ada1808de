import { describe, expect, it } from '@jest/globals';
import { isMet, misses, printReport, type Finding } from './report.js';

const finding = (median: number, target: Finding['target']): Finding => ({
  what: 'runs/s',
  reference: 'the other',
  value: { n: 3, q1: median - 1, median, q3: median + 1 },
  unit: 'x',
  target,
});
const print = (...findings: Finding[]): string =>
  printReport({ definition: ['What was done.'], tables: [], findings, notes: ['Mind this.'] });

describe('the report of a benchmark', () => {
  it('judges the unrounded median', () => {
    expect(isMet(finding(2.999_99, { atLeast: 3 }))).toBe(false);
    expect(isMet(finding(3, { atLeast: 3 }))).toBe(true);
    expect(isMet(finding(1.500_01, { atMost: 1.5 }))).toBe(false);
    expect(isMet(finding(1, null))).toBeNull();
  });

  it('prints the ratio with its spread, reference, target and whether the target is met', () => {
    const text = print(finding(4, { atLeast: 3 }), finding(2, { atLeast: 3 }));
    expect(text).toContain('runs/s, against the other:\n    RATIO 4.000x [3.000 to 5.000, n=3]; target >= 3 x: met');
    expect(text).toContain('RATIO 2.000x [1.000 to 3.000, n=3]; target >= 3 x: NOT MET');
    expect(text).toContain('Note: Mind this.');
  });

  it('prints a time with the ratio next to it', () => {
    const text = print({ ...finding(7, { atMost: 5 }), unit: 'ms', ratio: { n: 3, q1: 1, median: 1.1, q3: 1.2 } });
    expect(text).toContain('7.000 ms [6.000 to 8.000, n=3], RATIO 1.100x [1.000 to 1.200, n=3]; target <= 5 ms: NOT MET');
  });

  it('is not a success if a target is missed, or if none was judged', () => {
    const findings = [finding(4, { atLeast: 3 }), finding(0.44, { atLeast: 3 }), finding(1, null)];
    expect(misses({ findings })).toEqual(['runs/s, against the other: 0.4400x, target >= 3 x']);
    expect(misses({ findings: [finding(4, { atLeast: 3 }), finding(1, null)] })).toEqual([]);
    expect(misses({ findings: [finding(1, null)] })).toEqual(['nothing was measured that has a target']);
  });

  it('aligns tables', () => {
    const text = printReport({
      definition: [],
      tables: [{ title: 'Times:', columns: ['way', 'p50'], rows: [['a longer name', { n: 1, q1: 1, median: 2, q3: 3 }]] }],
      findings: [],
      notes: [],
    });
    expect(text).toContain('Times:\n  way            p50\n  a longer name  2.000 [1.000 to 3.000, n=1]');
  });
});
