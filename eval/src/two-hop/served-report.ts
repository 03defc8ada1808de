import type { EvaluationOptions, EvaluationReport } from '../evaluation.js';
import type { Paragraph, TwoGold } from '../recall/two-hop-corpus.js';
import { percent, table } from '../report.js';
import { places } from './measure.js';
import { kept } from './planners.js';
import { measureServed, type ServedRun } from './served.js';

/** Least share of the questions with both paragraphs among four titles, with the built-in embedder and with a neural one. */
const targets = { builtIn: 0.7, neural: 0.75 } as const;
const askers = ['mechanical', 'name'] as const;

const share = (runs: readonly ServedRun[], isSo: (run: ServedRun) => boolean): number => runs.filter(isSo).length / runs.length;
const holdsBoth = ({ gold }: TwoGold, titles: readonly string[]): boolean => gold.every((title) => titles.includes(title));

/** What the built program finds with its shipped template, for documents in a folder and uploaded ones. */
export async function servedReport(
  paragraphs: readonly Paragraph[],
  questions: readonly TwoGold[],
  embeddings: EvaluationOptions['embeddings'],
): Promise<EvaluationReport> {
  const measured = [];
  for (const place of places)
    for (const planner of askers) {
      const runs = await measureServed(paragraphs, questions, { place, planner, embeddings: embeddings ?? null });
      const figures = {
        place,
        planner,
        both: share(runs, ({ question, kept: titles }) => holdsBoth(question, titles)),
        single: share(runs, ({ question, first }) => holdsBoth(question, first.slice(0, kept))),
        unsearched: share(runs, ({ first }) => first.length === 0),
        calls: runs.reduce((sum, { calls }) => sum + calls, 0) / runs.length,
      };
      measured.push(figures);
      // Each part takes minutes.
      process.stderr.write(
        `${place}, ${planner}: ${percent(figures.both)} (one search ${percent(figures.single)}, not searched ${percent(figures.unsearched)})\n`,
      );
    }
  const atLeast = embeddings ? targets.neural : targets.builtIn;
  return {
    definition: [
      `${paragraphs.length} paragraphs and ${questions.length} questions over two of them, asked of the built program over HTTP with the shipped template \`conclave\`.`,
      `The figure is how often both are among ${kept} titles: the two best of the first search, then the best new one of each later search in turn. "One search" counts the first search alone.`,
      'The model behind it plans by rules and sees only what its prompts show: it searches for the question, then for the question with the text of each of the two best hits (mechanical), or for the first name in each that the question does not contain (name).',
    ],
    sections: [
      {
        title: 'The running program',
        lines: table(
          ['documents', 'second query', 'both', 'one search', 'not searched', 'model calls'],
          measured.map(({ place, planner, both, single, unsearched, calls }) => [
            place,
            planner,
            percent(both),
            percent(single),
            percent(unsearched),
            calls.toFixed(1),
          ]),
        ),
      },
    ],
    findings: measured.map(({ place, planner, both }) => ({ what: `${place}, ${planner}`, value: both, target: { atLeast } })),
    notes: ['The shipped template is unchanged; each question is asked without caches.'],
    figures: { served: measured },
  };
}
