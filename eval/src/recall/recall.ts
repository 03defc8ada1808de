import type { Evaluation } from '../evaluation.js';
import { percent, table } from '../report.js';
import { measureRecall, ways, wordings } from './measure.js';
import { twoHopCorpus } from './two-hop-corpus.js';

/** Share by which uploaded documents may be found less often than the same ones in a folder. */
export const mostBehind = 0.02;

/** How well uploaded documents are found, compared with the same ones in a folder. */
export const recall: Evaluation = {
  id: 'recall',
  title: 'documents that are uploaded are found as well as the same ones in a folder',
  async run() {
    const { paragraphs, questions } = twoHopCorpus(400);
    const measured = await measureRecall(paragraphs, questions);
    return {
      definition: [
        `${paragraphs.length} made-up paragraphs and ${questions.length} questions over two of them. The figure is how often both are among the first four titles.`,
        'A long question is followed by the text of the two best paragraphs, as a second round writes it.',
        'The folder is searched by full text. Uploaded documents are searched by full text and by the vectors of the built-in embedder, fused by rank.',
      ],
      sections: [
        {
          title: 'Both paragraphs among the first four',
          lines: table(
            ['documents', ...wordings],
            ways.map((way) => [way, ...wordings.map((wording) => percent(measured[way][wording]))]),
          ),
        },
      ],
      findings: ways.slice(1).flatMap((way) =>
        wordings.map((wording) => ({
          what: `${way}, ${wording}: share behind the folder`,
          value: measured.folder[wording] - measured[way][wording],
          target: { atMost: mostBehind },
        })),
      ),
      notes: ['The corpus is made up; with other texts both ways find more or less, and full text contributes most to both.'],
      figures: { ...measured },
    };
  },
};
