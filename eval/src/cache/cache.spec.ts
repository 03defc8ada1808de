import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isMet } from '../evaluation.js';
import { printReport } from '../report.js';
import { cache, evaluateCache } from './cache.js';
import { isParaphrase, judgePairs, measurePairs, sumOf, type Embed } from './pair-measure.js';
import { adversarialPairs } from './pairs/adversarial-pair.js';
import { adversarialKinds } from './pairs/kinds.js';
import { questionPairs } from './pairs/question-pair.js';
import { changeKinds } from './pairs/kinds.js';

/** Returns the same vector for every text: the worst possible embedder, so that only the words keep a changed question out. */
const blind: Embed = (texts) => Promise.resolve(texts.map(() => new Float32Array([1, 0])));

describe('the question pairs', () => {
  it('are enough of each kind, in both languages and both halves', () => {
    for (const half of ['tuning', 'regression']) {
      const pairs = questionPairs.filter((pair) => pair.half === half);
      expect(pairs.filter(isParaphrase).length).toBeGreaterThanOrEqual(40);
      for (const kind of changeKinds) {
        for (const language of ['en', 'de'])
          expect(pairs.filter((pair) => pair.kind === kind && pair.language === language).length).toBeGreaterThanOrEqual(2);
      }
    }
  });

  it('include adversarial ones of each kind in both languages, without duplicates', () => {
    for (const kind of adversarialKinds) {
      for (const language of ['en', 'de'])
        expect(adversarialPairs.filter((pair) => pair.kind === kind && pair.language === language).length).toBeGreaterThanOrEqual(5);
    }
    const keys = [...questionPairs, ...adversarialPairs].map(({ first, second }) => [first, second].sort().join(' / '));
    const twice = keys.filter((key, at) => keys.indexOf(key) !== at);
    expect(twice).toEqual([]);
  });
});

describe('the semantic cache', () => {
  it('serves no changed question, even with an embedder that returns equal vectors', async () => {
    const tallies = await measurePairs(questionPairs, blind);
    expect(sumOf(tallies, 'near', () => true)).toBe(questionPairs.length);
    expect(tallies.filter((tally) => !isParaphrase(tally) && tally.hits !== 0)).toEqual([]);
  });

  it('serves none of the adversarial changes, in either order, with the same embedder', async () => {
    const turned = adversarialPairs.map(({ first, second }) => ({ first: second, second: first }));
    const judged = await judgePairs([...adversarialPairs, ...turned], blind);
    expect(judged.every(({ isNear }) => isNear)).toBe(true);
    expect([...adversarialPairs, ...turned].filter((_, at) => judged[at]!.isHit)).toEqual([]);
  });

  it('meets its targets with the shipped embedder, on the regression half too', async () => {
    const { findings } = await cache.run();
    expect(findings.some(({ what }) => what === 'recall of paraphrases, regression half')).toBe(true);
    expect(findings.filter((finding) => !isMet(finding))).toEqual([]);
  });

  it('serves nothing if the embedder finds nothing near', async () => {
    const far: Embed = (texts) => Promise.resolve(texts.map((_, index) => new Float32Array(index % 2 === 0 ? [1, 0] : [0, 1])));
    const report = await evaluateCache(far);
    expect(report.findings.find(({ what }) => what.startsWith('recall'))).toMatchObject({ value: 0 });
    expect(report.findings.every(isMet)).toBe(false);
    expect(printReport(report)).toContain('NOT MET');
  });
});

describe('pairs that other people labelled', () => {
  const folders: string[] = [];
  const pairsOf = (...lines: readonly string[]): string => {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-pairs-'));
    folders.push(folder);
    const file = join(folder, 'pairs.tsv');
    writeFileSync(file, lines.join('\n'));
    return file;
  };
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  it('are read from the last three columns, and hits with another label are listed', async () => {
    const pairs = pairsOf(
      'id\tquestion1\tquestion2\tis_duplicate',
      "1\tWhat is the capital of France?\tWhat's the capital city of France?\t1",
      '2\tHow do I keep bees?\tHow can I keep bees?\t0',
      '3\tHow do I keep bees?\tHow do I keep hens?\t0',
      '',
    );
    const { sections, figures } = await cache.run({ pairs });
    expect(sections[0]!.lines.map((line) => line.split(/ {2,}/u))).toEqual([
      ['label', 'pairs', 'hits', 'share'],
      ['the same', '1', '1', '100.0 %'],
      ['different', '2', '1', '50.0 %'],
    ]);
    expect(sections[1]!.lines).toEqual([expect.stringMatching(/^0\.\d{3} {2}How do I keep bees\? {2}\| {2}How can I keep bees\?$/)]);
    expect(figures).toMatchObject({ pairs: 3, hits: 2 });
  });

  it('are refused with the line that cannot be read', async () => {
    await expect(cache.run({ pairs: pairsOf('a\tb\t1', 'a\tb\tperhaps') })).rejects.toThrow('Line 2 must end with a question');
    await expect(cache.run({ pairs: pairsOf('question1\tquestion2\tlabel') })).rejects.toThrow('The file has no pair of questions.');
  });
});
