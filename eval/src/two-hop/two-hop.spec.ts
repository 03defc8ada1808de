import { beforeAll, describe, expect, it } from '@jest/globals';
import { BuiltInEmbedder } from '@conclave/adapter-embedder';
import { twoHopCorpus } from '../recall/two-hop-corpus.js';
import { measureTwoHops, places, type TwoHopRecall } from './measure.js';

describe('a second search that goes on from the first', () => {
  let measured: TwoHopRecall;
  beforeAll(async () => {
    const { paragraphs, questions } = twoHopCorpus(180, 11);
    const embedder = BuiltInEmbedder.open();
    measured = await measureTwoHops(paragraphs, questions, embedder);
    await embedder.close();
  }, 120_000);

  it.each(places)('finds both paragraphs among four as often as required, in documents that are in: %s', (place) => {
    const { single, mechanical, name, ideal } = measured[place];
    expect(single).toBeGreaterThanOrEqual(0.5);
    expect(mechanical).toBeGreaterThanOrEqual(0.71);
    expect(name).toBeGreaterThanOrEqual(0.7);
    expect(ideal).toBeGreaterThanOrEqual(0.95);
  });
});
