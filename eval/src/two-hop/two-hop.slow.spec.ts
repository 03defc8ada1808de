import { beforeAll, describe, expect, it } from '@jest/globals';
import { BuiltInEmbedder } from '@conclave/adapter-embedder';
import { twoHopCorpus } from '../recall/two-hop-corpus.js';
import { mostBehind } from '../recall/recall.js';
import { measureTwoHops, places, type TwoHopRecall } from './measure.js';
import { planners } from './planners.js';

describe('a second search that continues from the first', () => {
  let measured: TwoHopRecall;
  beforeAll(async () => {
    const { paragraphs, questions } = twoHopCorpus(180, 11);
    const embedder = BuiltInEmbedder.open();
    measured = await measureTwoHops(paragraphs, questions, embedder);
    await embedder.close();
  }, 120_000);

  it.each(places)('finds both paragraphs among four as often as required, in these documents: %s', (place) => {
    const { single, mechanical, name, ideal } = measured[place];
    expect(single).toBeGreaterThanOrEqual(0.5);
    expect(mechanical).toBeGreaterThanOrEqual(0.71);
    expect(name).toBeGreaterThanOrEqual(0.7);
    expect(ideal).toBeGreaterThanOrEqual(0.95);
  });
});

describe('documents whose relevant sentences are deep in a long paragraph', () => {
  const before = 'A hall stands beside the market, and on most days of the year it is open from early morning until late. ';

  it('are found as well when uploaded as in a folder, by one search and by a second one', async () => {
    const { paragraphs, questions } = twoHopCorpus(100, 11);
    const long = paragraphs.map(({ title, text }) => ({ title, text: `${before.repeat(5)}${text}` }));
    const embedder = BuiltInEmbedder.open();
    const { folder, uploaded } = await measureTwoHops(long, questions, embedder);
    await embedder.close();
    expect(planners.filter((planner) => uploaded[planner] < folder[planner] - mostBehind)).toEqual([]);
    expect(folder.mechanical).toBeGreaterThan(0.5);
  }, 120_000);
});
