import { nearestDistance } from '@conclave/strategies';
import { chosenEmbedder } from '../chosen-embedder.js';
import type { Evaluation, Finding, Section } from '../evaluation.js';
import { halves } from '../halves.js';
import { percent, table } from '../report.js';
import { evaluateOwnPairs } from './own-pairs.js';
import { isParaphrase, judgePairs, measurePairs, sumOf, type Embed, type JudgedPair, type PairTally } from './pair-measure.js';
import { adversarialPairs } from './pairs/adversarial-pair.js';
import { adversarialKinds } from './pairs/kinds.js';
import { questionPairs } from './pairs/question-pair.js';

export const cacheTargets = {
  /** Over all pairs. */
  paraphraseRecall: 0.6,
  /** Applies to the comparison of words alone, whose rules may be tuned; the embedder rejects some more after it. */
  paraphrasesLetThrough: 0.9,
};

/** Which repeated questions the semantic answer cache serves, and which changed ones it must not serve. */
export const cache: Evaluation = {
  id: 'cache',
  title: 'hits of the semantic answer cache',
  async run({ pairs = null, embeddings = null } = {}) {
    const embedder = chosenEmbedder(embeddings);
    const embed: Embed = (texts) => embedder.embed(texts, { signal: new AbortController().signal });
    try {
      return await (pairs === null ? evaluateCache(embed) : evaluateOwnPairs(pairs, embed));
    } finally {
      await embedder.close();
    }
  },
};

export async function evaluateCache(embed: Embed): Promise<Awaited<ReturnType<Evaluation['run']>>> {
  const tallies = await measurePairs(questionPairs, embed);
  const adversarial = await judgePairs(adversarialPairs, embed);
  const paraphrases = questionPairs.filter(isParaphrase).length;
  const share = (count: 'same' | 'hits', half: PairTally['half']): number => {
    const of = (tally: PairTally): boolean => isParaphrase(tally) && tally.half === half;
    return sumOf(tallies, count, of) / sumOf(tallies, 'pairs', of);
  };
  const changed = (tally: PairTally): boolean => !isParaphrase(tally);
  const findings: readonly Finding[] = [
    { what: 'false hits on changed questions, both halves', value: sumOf(tallies, 'hits', changed), target: { atMost: 0 } },
    { what: 'false hits on adversarial changes', value: adversarial.filter(({ isHit }) => isHit).length, target: { atMost: 0 } },
    {
      what: 'recall of paraphrases, regression half',
      value: share('hits', 'regression'),
      target: { atLeast: cacheTargets.paraphraseRecall },
    },
    {
      what: 'changed questions accepted as the same by their words, both halves',
      value: sumOf(tallies, 'same', changed),
      target: { atMost: 0 },
    },
    {
      what: 'adversarial changes accepted as the same by their words',
      value: adversarial.filter(({ isSame }) => isSame).length,
      target: { atMost: 0 },
    },
    {
      what: 'share of paraphrases accepted by their words, tuning half',
      value: share('same', 'tuning'),
      target: { atLeast: cacheTargets.paraphrasesLetThrough },
    },
    {
      what: 'share of paraphrases accepted by their words, regression half',
      value: share('same', 'regression'),
      target: { atLeast: cacheTargets.paraphraseRecall },
    },
  ];
  return {
    definition: [
      `${questionPairs.length} pairs of questions, English and German: ${paraphrases} paraphrases, the rest with one thing changed. Of each kind and language`,
      'every second pair belongs to the regression half; the rules know words of both. A hit is what the gateway serves: a cosine distance of',
      `the questions below ${nearestDistance} with the embedder, and no difference in numbers, dates, names, negation and the like.`,
      `${adversarialPairs.length} further adversarial pairs are all changed, mostly by one small word; the rules were written against them.`,
    ],
    sections: [
      ...halves.map((half) =>
        sectionOf(
          half,
          tallies.filter((tally) => tally.half === half),
        ),
      ),
      adversarialSection(adversarial),
    ],
    findings,
    notes: [
      'The pairs come from the project that wrote the rules; other people may change questions in other ways: `npm run eval -- cache --pairs FILE`.',
    ],
    figures: { tallies, adversarial: { pairs: adversarial.length, near: adversarial.filter(({ isNear }) => isNear).length } },
  };
}

const columns = ['pairs', 'same words', `near (< ${nearestDistance})`, 'hits', 'misses'];

function sectionOf(half: string, tallies: readonly PairTally[]): Section {
  const row = (name: string, of: (tally: PairTally) => boolean): readonly string[] => {
    const [pairs, same, near, hits] = (['pairs', 'same', 'near', 'hits'] as const).map((count) => sumOf(tallies, count, of)) as [
      number,
      number,
      number,
      number,
    ];
    return [name, ...[pairs, same, near, hits, pairs - hits].map(String)];
  };
  return {
    title: `Half "${half}"`,
    lines: [
      ...table(
        ['kind', ...columns],
        [
          row('paraphrase (should hit)', isParaphrase),
          ...tallies.filter((tally) => !isParaphrase(tally)).map(({ kind }) => row(`${kind} changed`, (tally) => tally.kind === kind)),
          row('all changed (must miss)', (tally) => !isParaphrase(tally)),
        ],
      ),
      `paraphrase recall ${percent(sumOf(tallies, 'hits', isParaphrase) / sumOf(tallies, 'pairs', isParaphrase))}`,
    ],
  };
}

function adversarialSection(judged: readonly JudgedPair[]): Section {
  const row = (name: string, of: readonly JudgedPair[]): readonly string[] => {
    const count = (is: (pair: JudgedPair) => boolean): number => of.filter(is).length;
    return [
      name,
      ...[
        of.length,
        count(({ isSame }) => isSame),
        count(({ isNear }) => isNear),
        count(({ isHit }) => isHit),
        count(({ isHit }) => !isHit),
      ].map(String),
    ];
  };
  return {
    title: 'Adversarial changes (must miss)',
    lines: table(
      ['kind', ...columns],
      [
        ...adversarialKinds.map((kind) =>
          row(
            kind,
            judged.filter((_, at) => adversarialPairs[at]!.kind === kind),
          ),
        ),
        row('all', judged),
      ],
    ),
  };
}
