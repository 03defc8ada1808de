import type { RunView, TaskView } from '@conclave/contracts';
import { short } from '@conclave/platform';

/** What is compared of a run, or of one call to a single model. */
export interface ComparedSide {
  /** Head of its column. */
  readonly name: string;
  readonly outcome: string;
  readonly rule: string | null;
  readonly rounds: number | null;
  readonly calls: number;
  readonly tokens: number;
  /** Null if it is unknown. */
  readonly cost: number | null;
  readonly seconds: number | null;
  readonly answer: string | null;
  /** Tasks by round, in the order of the plan. */
  readonly tasks: readonly ComparedTask[];
}

export interface ComparedTask {
  readonly round: number;
  readonly capability: string;
  readonly text: string;
  readonly status: string;
  readonly model: string | null;
}

/** Two tasks of the same kind of work at the same place; null for the side that has no such task. */
export interface TaskPair {
  readonly left: ComparedTask | null;
  readonly right: ComparedTask | null;
}

export function sideOf(run: RunView): ComparedSide {
  const { total } = run.usage;
  return {
    name: `${run.template.id} (${run.id})`,
    outcome: run.outcome ?? `not ended (${run.status})`,
    rule: run.rule,
    rounds: run.roundsUsed,
    calls: total.calls,
    tokens: total.prompt + total.completion,
    cost: total.cost,
    seconds: run.startedAt === null || run.completedAt === null ? null : (run.completedAt - run.startedAt) / 1_000,
    answer: run.answer,
    // What came before the first plan, such as a look into the memory, belongs to its round.
    tasks: run.rounds.flatMap(({ tasks }, at, rounds) => {
      const plans = rounds.slice(0, at + 1).filter(({ planned }) => planned).length;
      return tasks.map((task) => taskOf(task, Math.max(1, plans)));
    }),
  };
}

const taskOf = ({ capability, task, status, model }: TaskView, round: number): ComparedTask => ({
  round,
  capability,
  text: task,
  status,
  model,
});

/** Aligns the tasks of each round: the longest common part by kind of work, in the order of both plans. */
export function alignedTasks(left: readonly ComparedTask[], right: readonly ComparedTask[]): readonly TaskPair[] {
  const rounds = [...new Set([...left, ...right].map(({ round }) => round))].sort((a, b) => a - b);
  return rounds.flatMap((round) =>
    aligned(
      left.filter((task) => task.round === round),
      right.filter((task) => task.round === round),
    ),
  );
}

function aligned(a: readonly ComparedTask[], b: readonly ComparedTask[]): TaskPair[] {
  const same = (i: number, j: number): boolean => a[i]!.capability === b[j]!.capability;
  const common = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      common[i]![j] = same(i, j) ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  const pairs: TaskPair[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length)
    if (i < a.length && j < b.length && same(i, j)) pairs.push({ left: a[i++]!, right: b[j++]! });
    else if (j >= b.length || (i < a.length && common[i + 1]![j]! >= common[i]![j + 1]!)) pairs.push({ left: a[i++]!, right: null });
    else pairs.push({ left: null, right: b[j++]! });
  return pairs;
}

/** The first pair that differs in text, status or model, or has only one task; null if there is none. */
export const firstDifference = (pairs: readonly TaskPair[]): TaskPair | null =>
  pairs.find(
    ({ left, right }) => !left || !right || left.text !== right.text || left.status !== right.status || left.model !== right.model,
  ) ?? null;

const saysOf = ({ round, capability, status, model, text }: ComparedTask): string =>
  `round ${round} · ${capability} · ${status}${model ? ` · ${model}` : ''} · ${short(text, 120)}`;

const signOf = ({ left, right }: TaskPair): string => (left && right ? (firstDifference([{ left, right }]) ? '~' : ' ') : left ? '-' : '+');

/** Both side by side: how they ended, what they cost, their tasks, the first difference, both answers. */
export function comparedText(left: ComparedSide, right: ComparedSide): string {
  const pairs = alignedTasks(left.tasks, right.tasks);
  const first = firstDifference(pairs);
  const number = (value: number | null, digits = 0): string => (value === null ? '-' : value.toFixed(digits));
  const rows: readonly (readonly [string, string, string])[] = [
    ['', left.name, right.name],
    ['outcome', left.outcome, right.outcome],
    ['rule', left.rule ?? '-', right.rule ?? '-'],
    ['rounds', number(left.rounds), number(right.rounds)],
    ['model calls', number(left.calls), number(right.calls)],
    ['tokens', number(left.tokens), number(right.tokens)],
    ['cost', number(left.cost, 4), number(right.cost, 4)],
    ['seconds', number(left.seconds, 1), number(right.seconds, 1)],
    ['tasks', number(left.tasks.length), number(right.tasks.length)],
  ];
  const width = Math.max(...rows.map(([, text]) => text.length));
  return [
    ...rows.map(([name, one, other]) => `${name.padEnd(12)}${one.padEnd(width + 3)}${other}`.trimEnd()),
    '',
    ...(pairs.length === 0 ? [] : ['Tasks (- of the left alone, + of the right alone, ~ of both, but not the same)']),
    ...pairs.flatMap((pair) => {
      const sign = signOf(pair);
      if (sign !== '~') return [`${sign} ${saysOf((pair.left ?? pair.right)!)}`];
      return [`~ ${saysOf(pair.left!)}`, `  ${saysOf(pair.right!)}`];
    }),
    ...(pairs.length === 0 ? [] : ['']),
    first
      ? `First difference: ${[first.left, first.right].map((task) => (task ? saysOf(task) : 'nothing')).join('  |  ')}`
      : 'No task differs.',
    '',
    ...(left.answer === right.answer
      ? ['Both answers are the same', left.answer ?? '(none)']
      : [`Answer of ${left.name}`, left.answer ?? '(none)', '', `Answer of ${right.name}`, right.answer ?? '(none)']),
    '',
  ].join('\n');
}

/** The same as one object. */
export const comparedJson = (left: ComparedSide, right: ComparedSide): string => {
  const tasks = alignedTasks(left.tasks, right.tasks);
  return `${JSON.stringify({ left, right, tasks, firstDifference: firstDifference(tasks) }, null, 2)}\n`;
};
