import { expect, it } from '@jest/globals';
import { ask, CommitteeScript, type System, expert, readRun, runEvents, user } from '@conclave/test-support/system';
import { describeOnce } from '../harness/describe-once.js';

/** A calculation in words, and its operation and arguments. */
type Wording = readonly [task: string, operation: string, args: Readonly<Record<string, unknown>>];

/** The number of evidence tasks that one plan may have. */
const tasksOfAPlan = 4;
/** Runs at the same time, fewer than the system accepts. */
const lanes = 3;

/** Questions whose level depends on characters beyond ASCII. */
const levelled: readonly (readonly [question: string, level: string])[] = [
  ['3 × 17 − 4?', 'moderate'],
  ['√1764 = ?', 'moderate'],
  ['12 ÷ 7 to 10 digits', 'moderate'],
  ['∫ x² dx', 'moderate'],
  ['Was sagt § 433?', 'moderate'],
  ['Translate “the sum of 3 + 4 is 7” into French.', 'trivial'],
  ['Was heißt „vergleiche die Vor- und Nachteile“ auf Englisch?', 'trivial'],
];

async function inLanes<T>(all: readonly T[], take: (one: T, position: number) => Promise<void>): Promise<void> {
  const waiting = [...all.entries()];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await take(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** What the built programs read from the words of a question: a bundle may read them differently from the sources. */
export function wordingScenarios(system: () => System, wordings: readonly Wording[]): void {
  const script = (question: string): CommitteeScript => new CommitteeScript(system().models, question);

  describeOnce('the level of a question', () => {
    it('is decided by characters of any alphabet', async () => {
      const decided: [string, string | null][] = [];
      await inLanes(levelled, async ([question], position) => {
        script(question)
          .plan([expert('x1', 'Say it.')])
          .expert('It is said.', { confidence: 0.9 });
        const { status, headers } = await ask(system().url(), { model: 'sorted', messages: user(question) });
        expect([question, status]).toEqual([question, 200]);
        const { complexity } = await readRun(system().url(), headers.get('x-run-id')!);
        decided[position] = [question, complexity];
      });
      expect(decided).toEqual(levelled);
    });
  });

  describeOnce('a calculation in words', () => {
    it('is recognised and made, however it is phrased', async () => {
      const plans = Array.from({ length: Math.ceil(wordings.length / tasksOfAPlan) }, (_, n) =>
        wordings.slice(n * tasksOfAPlan, (n + 1) * tasksOfAPlan),
      );
      await inLanes(plans, async (plan, position) => {
        const s = script(`What comes of these calculations (page ${position + 1} of many)?`)
          .plan(plan.map(([task], n) => ({ id: `m${n + 1}`, task, capability: 'math' })))
          .answer(['This comes of them.']);
        const { status, headers } = await ask(system().url(), { model: 'calculates', messages: user(s.question) });
        const id = headers.get('x-run-id')!;
        const { rounds } = await readRun(system().url(), id);
        const made = rounds[0]!.tasks.filter(({ capability }) => capability === 'math');
        expect([status, made.map(({ status }) => status)]).toEqual([200, plan.map(() => 'ok')]);
        const calls = (await runEvents(system().url(), id)).flatMap((entry) =>
          entry.kind === 'progress' && entry.code === 'mcp.call' ? [entry.text] : [],
        );
        expect(calls.sort()).toEqual(plan.map(([, operation]) => `Calculates with math.${operation}`).sort());
      });
    });
  });
}
