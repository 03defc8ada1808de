import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '@conclave/adapter-sqlite';
import { silentLogger } from '@conclave/platform';
import { scriptedRuns, visibleText } from '@conclave/strategies/loop-suite';
import type { Evaluation } from '../evaluation.js';
import { twoHopCorpus, type Paragraph, type TwoGold } from '../recall/two-hop-corpus.js';
import { percent, table } from '../report.js';
import { bridges, interval, kept, runTwoHops, shuffled, templates, type Hop, type Search, type TemplateName } from './two-hops.js';

/** Points by which a loop finds both paragraphs more often than a single pass. */
const leastGain = 0.15;

/** Both paragraphs of every question, by template, and the same where the texts are shuffled. */
export interface Measured {
  readonly paragraphs: number;
  readonly questions: number;
  readonly hops: Readonly<Record<TemplateName, readonly Hop[]>>;
  readonly control: Readonly<Record<TemplateName, readonly Hop[]>>;
}

/** Measures recall over a corpus of this size, drawn anew by its seed. */
export async function measureLoops(size: number, seed = 7): Promise<Measured> {
  const { paragraphs, questions } = twoHopCorpus(size, seed);
  const asked = bridges(questions);
  const hops = await inFolder(paragraphs, (search) => each(asked, search));
  const control = await inFolder(shuffled(paragraphs), (search) => each(asked, search));
  return { paragraphs: paragraphs.length, questions: asked.length, hops, control };
}

async function each(questions: readonly TwoGold[], search: Search): Promise<Record<TemplateName, readonly Hop[]>> {
  const all: Record<TemplateName, Hop[]> = { 'single-pass': [], agentic: [], waves: [] };
  for (const name of templates) for (const question of questions) all[name].push(await runTwoHops(name, question, search));
  return all;
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

const bar = (share: number): string => '█'.repeat(Math.round(share * 30)).padEnd(30, '·');

/** Scripted runs of every rule, and what a second round is worth. */
export const loop: Evaluation = {
  id: 'loop',
  title: 'every rule of the loop in a scripted run, and what its rounds find on two-hop questions',
  async run() {
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
        `B11: ${measured.paragraphs} made-up paragraphs and ${measured.questions} questions that name one of their two paragraphs. Counted is how often both are among ${kept} titles.`,
        'The scripted planner sees retrieved text only: its second query is made of the names that the best paragraph has and the question has not.',
        'Tokens are estimated from what the planner and the judges are given.',
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
            ['template', 'recall', 'rounds', 'calls', 'tokens', 'shuffled', ''],
            templates.map((name) => [
              name,
              percent(recallOf(hops[name])),
              mean(hops[name].map(({ rounds }) => rounds)).toFixed(1),
              mean(hops[name].map(({ calls }) => calls)).toFixed(1),
              mean(hops[name].map(({ tokens }) => tokens)).toFixed(0),
              percent(recallOf(control[name])),
              bar(recallOf(hops[name])),
            ]),
          ),
        },
      ],
      findings: [
        { what: 'scripted runs', value: played.length, target: { atLeast: 40 } },
        { what: 'scripted runs that end otherwise', value: wrong.length, target: { atMost: 0 } },
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
        'The corpus is made up and the replies are scripted: the figures say what the rounds can find, not what a model makes of them.',
      ],
      figures: {
        recall: Object.fromEntries(templates.map((name) => [name, recallOf(hops[name])])),
        shuffled: Object.fromEntries(templates.map((name) => [name, recallOf(control[name])])),
        intervals: Object.fromEntries(bounds.map(({ name, bounds: both }) => [name, both])),
      },
    };
  },
};
