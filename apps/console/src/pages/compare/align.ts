import type { RunView } from '@conclave/contracts';

type Task = RunView['rounds'][number]['tasks'][number];

/** Two corresponding tasks of two runs, or a task that the other run does not have. */
export interface Pair {
  /** Null for the tasks that end a run, in whichever round. */
  readonly epoch: number | null;
  readonly left: Task | null;
  readonly right: Task | null;
  /** The difference in words; empty if there is none. */
  readonly differences: readonly string[];
}

const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();

/** Pairs of one round: equal instructions first, then equal capabilities, in the order of the left run. */
function paired(left: readonly Task[], right: readonly Task[]): readonly (readonly [Task | null, Task | null])[] {
  const free = new Set(right);
  const take = (isIt: (task: Task) => boolean): Task | null => {
    const found = [...free].find(isIt) ?? null;
    if (found) free.delete(found);
    return found;
  };
  const equal = new Map(
    left.map((task) => [task, take((other) => other.capability === task.capability && plain(other.task) === plain(task.task))]),
  );
  const pairs = left.map((task) => [task, equal.get(task) ?? take((other) => other.capability === task.capability)] as const);
  return [...pairs, ...[...free].map((task) => [null, task] as const)];
}

function differencesOf(left: Task | null, right: Task | null): readonly string[] {
  if (!left) return ['only in the second run'];
  if (!right) return ['only in the first run'];
  return [
    plain(left.task) === plain(right.task) ? '' : 'other instruction',
    left.status === right.status ? '' : 'other result',
    left.model === right.model ? '' : 'other model',
    left.facts === right.facts ? '' : 'other number of facts',
  ].filter((text) => text !== '');
}

/** The task that writes the answer, in whichever round a run ends. */
const closes = ({ capability }: Task): boolean => capability === 'judge.synthesis';

/** Tasks of two runs side by side, round by round, followed by those that wrote their answers. */
export function alignTasks(left: RunView, right: RunView): readonly Pair[] {
  const epochs = [...new Set([...left.rounds, ...right.rounds].map(({ epoch }) => epoch))].sort((one, other) => one - other);
  const ofRound = (run: RunView, epoch: number): readonly Task[] =>
    run.rounds.find((round) => round.epoch === epoch)?.tasks.filter((task) => !closes(task)) ?? [];
  const last = (run: RunView): readonly Task[] => run.rounds.flatMap(({ tasks }) => tasks).filter(closes);
  const pair =
    (epoch: number | null) =>
    ([one, other]: readonly [Task | null, Task | null]): Pair => ({
      epoch,
      left: one,
      right: other,
      differences: differencesOf(one, other),
    });
  return [
    ...epochs.flatMap((epoch) => paired(ofRound(left, epoch), ofRound(right, epoch)).map(pair(epoch))),
    ...paired(last(left), last(right)).map(pair(null)),
  ];
}
