import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { chosenEmbedder } from '../chosen-embedder.js';
import type { Evaluation, EvaluationReport } from '../evaluation.js';
import { twoHopCorpus } from '../recall/two-hop-corpus.js';
import { percent, table } from '../report.js';
import { measureTwoHops, places } from './measure.js';
import { planners } from './planners.js';
import { servedReport } from './served-report.js';

/** A user's own set: paragraphs with distinct titles, and questions whose answers are in two of them. */
const QuestionSet = z.object({
  paragraphs: z.array(z.object({ title: z.string(), text: z.string() })).min(2),
  questions: z.array(z.object({ question: z.string(), gold: z.tuple([z.string(), z.string()]) })).min(1),
});

/** Least share of questions with both paragraphs among the first four, by the query of the second hop. */
const targets = { single: 0.5, mechanical: 0.71, name: 0.7 } as const;

/** How often both paragraphs of a question over two of them are found, by one search and by a second one that continues from the first. */
export const twoHop: Evaluation = {
  id: 'two-hop',
  title: 'a second search finds the paragraph that the first one leads to',
  async run({ set = null, embeddings = null, served = false } = {}): Promise<EvaluationReport> {
    const { paragraphs, questions } = set === null ? twoHopCorpus(400) : QuestionSet.parse(JSON.parse(readFileSync(set, 'utf8')));
    if (served) return servedReport(paragraphs, questions, embeddings);
    const embedder = chosenEmbedder(embeddings);
    try {
      const measured = await measureTwoHops(paragraphs, questions, embedder);
      return {
        definition: [
          `${paragraphs.length} ${set === null ? 'made-up ' : ''}paragraphs and ${questions.length} questions over two of them. The figure is how often both are among four titles:`,
          'the first four of one search, or its two best and then the best new one of each later query in turn.',
          'Second queries: the question with the text of each of the two best (mechanical), the first name in each that the question does not contain (name), the title of the missing paragraph (ideal).',
        ],
        sections: [
          {
            title: 'Both paragraphs among four',
            lines: table(
              ['documents', ...planners],
              places.map((place) => [place, ...planners.map((planner) => percent(measured[place][planner]))]),
            ),
          },
        ],
        findings: places.flatMap((place) =>
          Object.entries(targets).map(([planner, atLeast]) => ({
            what: `${place}, ${planner}`,
            value: measured[place][planner as keyof typeof targets],
            target: { atLeast },
          })),
        ),
        notes: set === null ? ['The corpus is made up. Measure your own set: `npm run eval -- two-hop --set FILE`.'] : [],
        figures: { ...measured },
      };
    } finally {
      await embedder.close();
    }
  },
};
