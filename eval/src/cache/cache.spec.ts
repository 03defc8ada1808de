import { describe, expect, it } from '@jest/globals';
import { isMet } from '../evaluation.js';
import { printReport } from '../report.js';
import { evaluateCache } from './cache.js';
import { distance, isParaphrase, measurePairs, sumOf, type Embed } from './pair-measure.js';
import { changeKinds, questionPairs } from './pairs/question-pair.js';

/** Every text the same vector: the worst embedder there is, so that only the words keep a changed question out. */
const blind: Embed = (texts) => Promise.resolve(texts.map(() => new Float32Array([1, 0])));

describe('the question pairs', () => {
  it('are enough of each sort, in both languages and both halves', () => {
    for (const half of ['tuning', 'frozen']) {
      const pairs = questionPairs.filter((pair) => pair.half === half);
      expect(pairs.filter(isParaphrase).length).toBeGreaterThanOrEqual(40);
      for (const kind of changeKinds) {
        for (const language of ['en', 'de'])
          expect(pairs.filter((pair) => pair.kind === kind && pair.language === language).length).toBeGreaterThanOrEqual(2);
      }
    }
  });
});

describe('the semantic cache', () => {
  it('serves no changed question, even with an embedder that sees no difference at all', async () => {
    const tallies = await measurePairs(questionPairs, blind);
    expect(sumOf(tallies, 'near', () => true)).toBe(questionPairs.length);
    expect(tallies.filter((tally) => !isParaphrase(tally) && tally.hits !== 0)).toEqual([]);
  });

  it('lets paraphrases through', async () => {
    const { findings } = await evaluateCache(blind);
    expect(findings.filter((finding) => !isMet(finding))).toEqual([]);
  });

  it('serves nothing when the embedder finds nothing near', async () => {
    const far: Embed = (texts) => Promise.resolve(texts.map((_, index) => new Float32Array(index % 2 === 0 ? [1, 0] : [0, 1])));
    const report = await evaluateCache(far);
    expect(report.findings.find(({ what }) => what.startsWith('recall'))).toMatchObject({ value: 0 });
    expect(report.findings.every(isMet)).toBe(false);
    expect(printReport(report)).toContain('NOT MET');
  });

  it('measures distance as one minus the cosine', () => {
    expect(distance(new Float32Array([1, 0]), new Float32Array([3, 0]))).toBeCloseTo(0);
    expect(distance(new Float32Array([1, 0]), new Float32Array([1, 1]))).toBeCloseTo(1 - Math.SQRT1_2);
    expect(distance(new Float32Array([0, 0]), new Float32Array([1, 1]))).toBe(1);
  });

  it('says what it cannot measure without an embedder', async () => {
    const report = await evaluateCache(null);
    expect(report.notes).toHaveLength(1);
    expect(report.findings.some(({ what }) => what.startsWith('recall'))).toBe(false);
  });
});
