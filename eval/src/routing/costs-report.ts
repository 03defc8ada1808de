import type { Finding, Section } from '../evaluation.js';
import { table } from '../report.js';
import type { Mood } from './committee-replies.js';
import { decide } from './confusion.js';
import type { RunCosts } from './level-costs.js';
import { levels } from './prompts/written.js';

const titles: Readonly<Record<Mood, string>> = {
  sure: 'Calls and tokens of a run, by level, where every model is sure at once',
  unsure: 'Calls and tokens of a run, by level, where no model is ever sure',
};

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
/** `5` if all are 5, else `4-6`. */
const range = (values: readonly number[]): string => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? String(least) : `${least}-${most}`;
};

/** Rows are the levels decided for the runs, figures come from the runs' own records. */
export function costSections(costs: readonly RunCosts[]): readonly Section[] {
  return [...new Set(costs.map(({ mood }) => mood))].map((mood) => ({
    title: titles[mood],
    lines: table(
      ['level', 'runs', 'experts', 'model calls', 'mean calls', 'mean prompt tokens', 'mean completion tokens'],
      levels.flatMap((level) => {
        const runs = costs.filter((run) => run.mood === mood && run.level === level);
        if (runs.length === 0) return [];
        const of = (figure: (run: RunCosts) => number): readonly number[] => runs.map(figure);
        return [
          [
            level,
            String(runs.length),
            range(of(({ experts }) => experts)),
            range(of(({ calls }) => calls)),
            mean(of(({ calls }) => calls)).toFixed(1),
            mean(of(({ promptTokens }) => promptTokens)).toFixed(0),
            mean(of(({ completionTokens }) => completionTokens)).toFixed(0),
          ],
        ];
      }),
    ),
  }));
}

export function costFindings(costs: readonly RunCosts[]): readonly Finding[] {
  const trivial = costs.filter(({ level }) => level === 'trivial');
  return [
    { what: 'runs taken as trivial', value: trivial.length, target: { atLeast: 1 } },
    { what: 'most model calls of a trivial run', value: Math.max(...trivial.map(({ calls }) => calls)), target: { atLeast: 1, atMost: 1 } },
    { what: 'most experts of a trivial run', value: Math.max(...trivial.map(({ experts }) => experts)), target: { atLeast: 1, atMost: 1 } },
    {
      what: 'runs whose calls differ from those of the model server',
      value: costs.filter(({ calls, served }) => calls !== served).length,
      target: { atMost: 0 },
    },
    {
      what: 'runs whose level differs from that in the matrix',
      value: costs.filter(({ prompt, level }) => decide(prompt) !== level).length,
      target: { atMost: 0 },
    },
  ];
}
