import { beforeAll, describe, expect, it } from '@jest/globals';
import { namesTitle } from '@conclave/ports';
import { twoHopCorpus } from '../recall/two-hop-corpus.js';
import { gains, measureLoops, recallOf, type Measured } from './loop.js';
import { interval, kinds, leads, mixed } from './two-hops.js';

const loops = ['agentic', 'reflective-rag', 'waves'] as const;

describe('two-hop questions through the engine', () => {
  let measured: Measured;
  beforeAll(async () => {
    measured = await measureLoops(180, 23);
  }, 300_000);

  it('are found more often by each loop, with more calls when one search is not enough', () => {
    const { hops, questions } = measured;
    const hard = questions.flatMap(({ kind }, at) => (kind === 'one named' ? [at] : []));
    expect(hard.length).toBeGreaterThanOrEqual(30);
    const baseline = recallOf(hops['single-pass']);
    expect([baseline > 0.4, baseline < 0.75]).toEqual([true, true]);
    for (const name of loops) {
      expect(recallOf(hops[name]) - baseline).toBeGreaterThanOrEqual(0.15);
      expect(hops[name].every(({ rounds, calls }) => rounds <= 2 && calls >= 2)).toBe(true);
      expect(hard.filter((at) => hops[name][at]!.rounds === 2).length).toBeGreaterThan(hard.length * 0.8);
    }
  });

  it('gain nothing when other texts are read: the second query depends on the retrieved text', () => {
    expect(recallOf(measured.control['single-pass'])).toBe(recallOf(measured.hops['single-pass']));
    for (const name of loops) {
      const [low, high] = interval(gains(measured.control, name));
      expect(low).toBeLessThanOrEqual(0);
      expect(high).toBeGreaterThanOrEqual(0);
    }
  });

  it('would gain even then with a planner that knew the wanted text', async () => {
    const { control } = await measureLoops(100, 23, ({ found, gold }) =>
      gold.filter((title) => !found.some((paragraph) => paragraph.title === title)),
    );
    for (const name of loops) expect(interval(gains(control, name))[0]).toBeGreaterThan(0);
  }, 300_000);
});

describe('the scripted planner', () => {
  const company = { title: 'Elmstone Rope Company', text: 'The Elmstone Rope Company was founded by Ada Pell.' };
  const known = { question: 'Where was the founder of the Elmstone Rope Company born?', queries: [], gold: [] };

  it('asks for names in the paragraph that the question names, each once', () => {
    const other = { title: 'Crow Hill', text: 'Crow Hill has a Town Hall.' };
    expect(leads({ ...known, found: [other, company] })).toEqual(['Ada Pell']);
    expect(leads({ ...known, found: [company], queries: ['Ada Pell'] })).toEqual([]);
  });

  it('is done when two paragraphs that the question names were found', () => {
    const question = 'Where was Ada Pell, founder of the Elmstone Rope Company, born?';
    expect(leads({ ...known, question, found: [company, { title: 'Ada Pell', text: 'Born in Crow Hill.' }] })).toEqual([]);
  });

  it('receives equally many questions of each kind, and names the second paragraph in two of three', () => {
    const questions = mixed(twoHopCorpus(120).questions);
    for (const kind of kinds) expect(questions.filter((one) => one.kind === kind).length).toBe(questions.length / 3);
    for (const { kind, question, gold } of questions)
      expect([namesTitle(question, gold[0]), namesTitle(question, gold[1])]).toEqual([true, kind !== 'one named']);
  });

  it('is compared by an interval around the mean', () => {
    const [low, high] = interval([1, 1, 0, 0, 1, 0, -1, 1]);
    expect([low < 0.375, high > 0.375]).toEqual([true, true]);
  });
});
