import { describe, expect, it } from '@jest/globals';
import { openDemoModels } from './demo-models.js';
import { generatedCase, patterns, type TwoHopCase } from './__fixtures__/generated-cases.js';
import { runLoop, type LoopOutcome } from './__fixtures__/miniature-loop.js';

const models = openDemoModels();
const seeds = Array.from({ length: 25 }, (_, seed) => seed + 1);
const names = Object.keys(patterns) as (keyof typeof patterns)[];

const problemsOf = async (
  pattern: keyof typeof patterns,
  corpusOf: (one: TwoHopCase) => TwoHopCase['distractors'],
  faultIn: (one: TwoHopCase, outcome: LoopOutcome) => string | null,
): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const seed of seeds) {
    const one = generatedCase(pattern, seed);
    const outcome = await runLoop(models, one.question, corpusOf(one));
    const fault = faultIn(one, outcome);
    if (fault)
      problems.push(
        `seed ${seed}: ${fault}\n  ${one.question}\n  ${one.first.text}\n  ${one.second.text}\n  gaps: ${outcome.gaps.join(' | ')}\n  searches: ${outcome.searches.join(' | ')}\n  -> ${outcome.answer}`,
      );
  }
  return problems;
};
const cited = (answer: string, sentenceWith: string): readonly string[] =>
  [...answer.matchAll(/([^.\n]*)\[(\d+)\]/g)].filter((match) => match[1]!.includes(sentenceWith)).map((match) => match[2]!);

describe.each(names)('a generated corpus of the pattern %s', (pattern) => {
  it('is answered correctly, with sources, after one re-plan', async () => {
    const problems = await problemsOf(
      pattern,
      ({ distractors, first, second }) => [...distractors, second, first],
      (one, outcome) => {
        if (!outcome.answer.startsWith(one.answer)) return `does not begin with ${one.answer}`;
        if (outcome.gaps.length !== 1) return `${outcome.gaps.length} re-plans`;
        const number = String(outcome.facts.indexOf(one.second) + 1);
        return cited(outcome.answer, one.answer).includes(number) ? null : `does not cite [${number}] for ${one.answer}`;
      },
    );
    expect(problems).toEqual([]);
  });

  it('reports the gap when the second document is missing', async () => {
    const problems = await problemsOf(
      pattern,
      ({ distractors, first }) => [first, ...distractors],
      (one, outcome) => {
        if (outcome.answer.includes(one.answer)) return 'gives an answer nobody wrote';
        if (!outcome.answer.includes('nothing in them answers')) return 'does not say what stays open';
        if (!outcome.answer.includes(one.bridge)) return `does not name ${one.bridge}`;
        return outcome.gaps.at(-1)?.includes(one.bridge) ? null : 'names no gap';
      },
    );
    expect(problems).toEqual([]);
  });

  it('states that it found nothing when the first document is missing', async () => {
    const problems = await problemsOf(
      pattern,
      ({ distractors, second }) => [second, ...distractors],
      (one, outcome) =>
        outcome.answer.includes(one.answer) ? 'jumps to an answer' : /nothing|No document/.test(outcome.answer) ? null : 'is not plain',
    );
    expect(problems).toEqual([]);
  });
});

describe('the demo model', () => {
  it('makes the same run twice for the same corpus', async () => {
    const one = generatedCase('founderBirthplace', 5);
    const corpus = [one.first, one.second, ...one.distractors];
    expect(await runLoop(models, one.question, corpus)).toEqual(await runLoop(models, one.question, corpus));
  });
});
