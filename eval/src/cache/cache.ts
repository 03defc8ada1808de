import type { Evaluation, Finding, Section } from '../evaluation.js';
import { halves } from '../halves.js';
import { percent, table } from '../report.js';
import { builtInEmbedder } from './embedder.js';
import { hitBelow, isParaphrase, measurePairs, sumOf, type Embed, type PairTally } from './pair-measure.js';
import { questionPairs } from './pairs/question-pair.js';

export const cacheTargets = {
  /** Of the whole: moe.md, Caches. */
  paraphraseRecall: 0.6,
  /** Of the comparison of words alone, where rules may be tuned: the embedder takes its share after it. */
  paraphrasesLetThrough: 0.9,
};

/** Which repeated questions the semantic answer cache serves, and which changed ones it must not. */
export const cache: Evaluation = { id: 'cache', title: 'hits of the semantic answer cache', run: () => evaluateCache(builtInEmbedder) };

export async function evaluateCache(embed: Embed | null): Promise<Awaited<ReturnType<Evaluation['run']>>> {
  const tallies = await measurePairs(questionPairs, embed);
  const paraphrases = questionPairs.filter(isParaphrase).length;
  const share = (count: 'same' | 'hits', of: (tally: PairTally) => boolean): number =>
    sumOf(tallies, count, of) / sumOf(tallies, 'pairs', of);
  const changed = (tally: PairTally): boolean => !isParaphrase(tally);
  const samenessFindings: readonly Finding[] = [
    { what: 'changed questions taken for the same by their words, both halves', value: sumOf(tallies, 'same', changed), target: { atMost: 0 } },
    { what: 'share of paraphrases let through by their words, tuning half', value: share('same', (tally) => isParaphrase(tally) && tally.half === 'tuning'), target: { atLeast: cacheTargets.paraphrasesLetThrough } },
    { what: 'share of paraphrases let through by their words, frozen half', value: share('same', (tally) => isParaphrase(tally) && tally.half === 'frozen'), target: { atLeast: cacheTargets.paraphraseRecall } },
  ]; // prettier-ignore
  const wholeFindings: readonly Finding[] = [
    { what: 'false hits on changed questions, both halves', value: sumOf(tallies, 'hits', changed), target: { atMost: 0 } },
    { what: 'recall of paraphrases, frozen half', value: share('hits', (tally) => isParaphrase(tally) && tally.half === 'frozen'), target: { atLeast: cacheTargets.paraphraseRecall } },
  ]; // prettier-ignore
  return {
    definition: [
      `${questionPairs.length} pairs of questions, English and German: ${paraphrases} paraphrases, the rest with one thing changed. Of each kind and language`,
      'every second pair is frozen: no rule was changed because of one of them. A hit is a cosine distance of the questions',
      `below ${hitBelow} and nothing that differs in numbers, dates, names, negation and the like.`,
    ],
    sections: halves.map((half) => sectionOf(half, tallies.filter((tally) => tally.half === half), embed !== null)), // prettier-ignore
    findings: embed === null ? samenessFindings : [...wholeFindings, ...samenessFindings],
    notes:
      embed === null
        ? ['This version has no built-in embedder yet: distances are left out, only the comparison of words is measured.']
        : [],
    figures: { tallies },
  };
}

function sectionOf(half: string, tallies: readonly PairTally[], hasEmbedder: boolean): Section {
  const columns = ['kind', 'pairs', 'same words', ...(hasEmbedder ? [`near (< ${hitBelow})`, 'hits', 'misses'] : [])];
  const row = (name: string, of: (tally: PairTally) => boolean): readonly string[] => {
    const [pairs, same, near, hits] = (['pairs', 'same', 'near', 'hits'] as const).map((count) => sumOf(tallies, count, of)) as [number, number, number, number]; // prettier-ignore
    return [name, String(pairs), String(same), ...(hasEmbedder ? [String(near), String(hits), String(pairs - hits)] : [])];
  };
  const ofParaphrases = sumOf(tallies, hasEmbedder ? 'hits' : 'same', isParaphrase) / sumOf(tallies, 'pairs', isParaphrase);
  return {
    title: `Half "${half}"`,
    lines: [
      ...table(columns, [
        row('paraphrase (should hit)', isParaphrase),
        ...tallies.filter((tally) => !isParaphrase(tally)).map(({ kind }) => row(`${kind} changed`, (tally) => tally.kind === kind)),
        row('all changed (must miss)', (tally) => !isParaphrase(tally)),
      ]),
      `${hasEmbedder ? 'paraphrase recall' : 'paraphrases let through'} ${percent(ofParaphrases)}`,
    ],
  };
}
