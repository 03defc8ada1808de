import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '@conclave/adapter-sqlite';
import { silentLogger } from '@conclave/platform';
import { scriptedRuns, visibleText } from '@conclave/strategies/loop-suite';
import type { Evaluation } from '../evaluation.js';
import { twoHopCorpus, type Paragraph, type TwoGold } from '../recall/two-hop-corpus.js';
import { percent, table } from '../report.js';
import {
  interval,
  kept,
  kinds,
  leads,
  mixed,
  runTwoHops,
  shuffledTexts,
  templates,
  type Hop,
  type Search,
  type TemplateName,
  type TwoHopOptions,
  type TwoHopQuestion,
} from './two-hops.js';

/** Percentage points by which a loop finds both paragraphs more often than a single pass. */
const leastGain = 0.15;

/** Whether both paragraphs of every question were found, by template; and the same if other texts are read. */
export interface Measured {
  readonly paragraphs: number;
  readonly questions: readonly TwoHopQuestion[];
  readonly hops: Readonly<Record<TemplateName, readonly Hop[]>>;
  readonly control: Readonly<Record<TemplateName, readonly Hop[]>>;
}

/** Measures recall over a corpus of this size, drawn by its seed. `goOn` writes the second query, in the control, too. */
export async function measureLoops(size: number, seed = 7, goOn: TwoHopOptions['goOn'] = leads): Promise<Measured> {
  const corpus = twoHopCorpus(size, seed);
  const questions = mixed(corpus.questions);
  const texts = shuffledTexts(corpus.paragraphs);
  return inFolder(corpus.paragraphs, async (search) => ({
    paragraphs: corpus.paragraphs.length,
    questions,
    hops: await each(questions, search, { goOn }),
    control: await each(questions, search, { goOn, texts }),
  }));
}

async function each(questions: readonly TwoGold[], search: Search, options: TwoHopOptions): Promise<Record<TemplateName, readonly Hop[]>> {
  const all: Partial<Record<TemplateName, readonly Hop[]>> = {};
  for (const name of templates) {
    const hops: Hop[] = [];
    for (const question of questions) hops.push(await runTwoHops(name, question, search, options));
    all[name] = hops;
  }
  return all as Record<TemplateName, readonly Hop[]>;
}

/** The paragraphs as files of a folder, as the product searches them. */
async function inFolder<T>(paragraphs: readonly Paragraph[], use: (search: Search) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'conclave-loop-'));
  const sqlite = openSqlite({ home: join(home, 'data'), processId: 'measure', durability: 'process', logger: silentLogger });
  try {
    const folder = join(home, 'documents');
    mkdirSync(folder);
    paragraphs.forEach(({ title, text }, n) => writeFileSync(join(folder, `${n}.md`), `# ${title}\n\n${text}\n`));
    const corpus = await sqlite.corpus(folder);
    const { signal } = new AbortController();
    return await use(async (query, limit) =>
      (await corpus.query({ query, limit, signal })).map(({ title, snippet }) => ({ title, text: snippet })),
    );
  } finally {
    await sqlite.close();
    rmSync(home, { recursive: true, force: true });
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
export const recallOf = (hops: readonly Hop[]): number => mean(hops.map(({ found }) => (found ? 1 : 0)));
/** Differences to the single pass, question by question. */
export const gains = (hops: Measured['hops'], name: TemplateName): readonly number[] =>
  hops[name].map(({ found }, at) => Number(found) - Number(hops['single-pass'][at]!.found));

/** Share of the questions of a kind. */
const recallOn = ({ questions }: Measured, hops: readonly Hop[], kind: TwoHopQuestion['kind']): number =>
  recallOf(hops.filter((_, at) => questions[at]!.kind === kind));
const points = (share: number): string => `${share < 0 ? '-' : '+'}${Math.abs(100 * share).toFixed(1)}`;

const bar = (share: number): string => '█'.repeat(Math.round(share * 30)).padEnd(30, '·');

/** Scripted runs of every rule, and what a second round is worth. */
export const loop: Evaluation = {
  id: 'loop',
  title: 'every rule of the loop in a scripted run, and what its rounds find on two-hop questions',
  async run({ own = null } = {}) {
    // Only the user's own questions need the whole product.
    if (own) return (await import('./own/own-questions.js')).measureOwn(own);
    const played = scriptedRuns.map((scripted) => ({ scripted, run: scripted.play() }));
    const wrong = played.filter(
      ({ scripted, run }) => run.completed()?.['outcome'] !== scripted.outcome || !scripted.says.test(visibleText(run)),
    );
    const measured = await measureLoops(400);
    const { hops, control } = measured;
    const loops = templates.filter((name) => name !== 'single-pass');
    const bounds = loops.map((name) => ({ name, bounds: interval(gains(control, name)) }));
    return {
      definition: [
        `${played.length} runs with scripted replies; each says how it ends and which rule or guard it shows.`,
        `B11: ${measured.paragraphs} made-up paragraphs and ${measured.questions.length} questions over two of them, a third each: comparisons, questions that name both, and questions that name the first alone. Every search finds ${kept} paragraphs. The figure is how often both are among the ${kept} that are kept of all searches, the best of each in turn.`,
        'The scripted planner sees only what was found: if two paragraphs that the question names were found, it is done; otherwise its second query consists of the names in the paragraph that the question names.',
        'Shuffled: each paragraph that is found is read with the text of another one. The searched texts do not change, so single-pass finds the same.',
        'Tokens are estimated from the input of the planner and the judges.',
      ],
      sections: [
        {
          title: 'Scripted runs',
          lines: table(
            ['run', 'shows', 'ends'],
            played.map(({ scripted, run }) => [
              scripted.name,
              scripted.covers.join(', '),
              `${String(run.completed()?.['outcome'])} ${String(run.completed()?.['rule'] ?? '')}`,
            ]),
          ),
        },
        {
          title: `Both paragraphs among ${kept}`,
          lines: table(
            ['template', 'recall', ...kinds, 'rounds', 'calls', 'tokens', 'shuffled', 'gain, shuffled (95 %)', ''],
            templates.map((name) => [
              name,
              percent(recallOf(hops[name])),
              ...kinds.map((kind) => percent(recallOn(measured, hops[name], kind))),
              mean(hops[name].map(({ rounds }) => rounds)).toFixed(1),
              mean(hops[name].map(({ calls }) => calls)).toFixed(1),
              mean(hops[name].map(({ tokens }) => tokens)).toFixed(0),
              percent(recallOf(control[name])),
              `${points(mean(gains(control, name)))} [${interval(gains(control, name)).map(points).join(' to ')}]`,
              bar(recallOf(hops[name])),
            ]),
          ),
        },
      ],
      findings: [
        { what: 'scripted runs', value: played.length, target: { atLeast: 40 } },
        { what: 'scripted runs that do not end as scripted', value: wrong.length, target: { atMost: 0 } },
        ...loops.map((name) => ({
          what: `${name}: gain over single-pass`,
          value: mean(gains(hops, name)),
          target: { atLeast: leastGain },
        })),
        ...bounds.flatMap(({ name, bounds: [low, high] }) => [
          { what: `${name}: lower end of the interval with shuffled texts`, value: low, target: { atMost: 0 } },
          { what: `${name}: upper end of the interval with shuffled texts`, value: high, target: { atLeast: 0 } },
        ]),
      ],
      notes: [
        'The corpus is made up and the replies are scripted: the figures show what the rounds can find, not what a model does with it.',
      ],
      figures: {
        questions: measured.questions.length,
        kinds: Object.fromEntries(
          templates.map((name) => [name, Object.fromEntries(kinds.map((kind) => [kind, recallOn(measured, hops[name], kind)]))]),
        ),
        recall: Object.fromEntries(templates.map((name) => [name, recallOf(hops[name])])),
        shuffled: Object.fromEntries(templates.map((name) => [name, recallOf(control[name])])),
        intervals: Object.fromEntries(bounds.map(({ name, bounds: both }) => [name, both])),
      },
    };
  },
};
