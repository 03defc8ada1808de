import { beforeAll, describe, expect, it } from '@jest/globals';
import { measureRecall, ways, wordings, type Recall } from './measure.js';
import { mostBehind } from './recall.js';
import { twoHopCorpus } from './two-hop-corpus.js';

describe('documents that are uploaded', () => {
  let measured: Recall;
  beforeAll(async () => {
    const { paragraphs, questions } = twoHopCorpus(180);
    expect(paragraphs.length).toBeGreaterThanOrEqual(180);
    expect(questions.length).toBeGreaterThanOrEqual(90);
    measured = await measureRecall(paragraphs, questions);
  }, 60_000);

  it('are queried with questions that the same documents in a folder answer', () => {
    for (const wording of wordings) expect(measured.folder[wording]).toBeGreaterThan(0.5);
  });

  it.each(ways.slice(1).flatMap((way) => wordings.map((wording) => [way, wording] as const)))(
    'are found as well as the same ones in a folder: %s, %s question',
    (way, wording) => expect(measured[way][wording]).toBeGreaterThanOrEqual(measured.folder[wording] - mostBehind),
  );
});
