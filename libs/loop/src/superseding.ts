import type { Fact, Memory } from '@conclave/contracts';
import { factIdentity } from './memory.js';
import { isExpert } from './plan-rules.js';
import { isJudge, type RunState, type TaskState } from './state.js';
import { heard } from './tiers.js';
import { isNear, textKey } from './wording.js';

/** What is known now: without the facts of results that a later one took the place of. */
export const currentFacts = ({ facts }: Memory): readonly Fact[] => facts.filter((fact) => !fact.superseded);

/** From now on the result of a task is history: nobody is shown its facts as current. What the new result says too (`unless`) stays. */
export function supersede(run: RunState, id: string, unless: readonly Fact[] = []): void {
  const task = run.tasks[id];
  if (task) task.superseded = true;
  const said = new Set(unless.map(factIdentity));
  const facts = run.memory.facts.map((fact) =>
    fact.taskId === id && !fact.superseded && !said.has(factIdentity(fact)) ? { ...fact, superseded: true } : fact,
  );
  run.memory = { ...run.memory, facts };
}

/** Tools give results that a later call corrects; passages of a search stay with their source. */
export const isTool = (capability: string): boolean => capability === 'mcp' || capability === 'math';
const toolOf = ({ spec }: TaskState): string => `${spec.capability} ${spec.tool ?? ''}`;
/** Members that always answer stand for themselves: only the same model's later answer can take the place of an earlier one. */
const voiceOf = ({ tier, models }: TaskState): string => (tier === 'always' ? (models ?? []).join(' ') : '');
const localOf = (task: TaskState): string => task.origin ?? task.spec.id;

/** The tasks that a plan names as done anew, as `<epoch>/<id>`. A bare id is the latest earlier task of that id. */
function namedBy(run: RunState, task: TaskState): ReadonlySet<string> {
  const earlier = Object.values(run.tasks).filter(({ epoch }) => epoch < task.epoch);
  return new Set(
    (task.spec.redoes ?? []).flatMap((name) => {
      if (name.includes('/')) return [name];
      const epochs = earlier.filter((other) => localOf(other) === name).map(({ epoch }) => epoch);
      return epochs.length > 0 ? [`${Math.max(...epochs)}/${name}`] : [];
    }),
  );
}

/** Whether only one planned task of its round asks this of the same capability or tool: else its words do not say which one is meant. */
const isAlone = (run: RunState, task: TaskState): boolean =>
  Object.values(run.tasks).filter(
    (other) =>
      other.epoch === task.epoch &&
      other.origin === undefined &&
      toolOf(other) === toolOf(task) &&
      textKey(other.spec.task) === textKey(task.spec.task),
  ).length === 1;

const asksTheSame = (run: RunState, task: TaskState, old: TaskState): boolean =>
  toolOf(old) === toolOf(task) &&
  (textKey(old.spec.task) === textKey(task.spec.task) || (isExpert(task.spec.capability) && isNear(old.spec.task, task.spec.task))) &&
  isAlone(run, old) &&
  isAlone(run, task);

/** Results of earlier rounds that this task does anew: named so by its plan, or the same question to the same category or tool. */
function redoneBy(run: RunState, task: TaskState): readonly (readonly [string, TaskState])[] {
  const named = namedBy(run, task);
  const { capability } = task.spec;
  return Object.entries(run.tasks).filter(([, old]) => {
    if (old.epoch >= task.epoch || isJudge(old) || old.superseded || old.result?.status !== 'ok') return false;
    if (isExpert(capability) ? !heard(old) : !isTool(capability) || !isTool(old.spec.capability)) return false;
    if (voiceOf(old) !== voiceOf(task)) return false;
    return named.has(`${old.epoch}/${localOf(old)}`) || asksTheSame(run, task, old);
  });
}

/**
 * A result takes the place of those it replaces: the second tier that of the first one, a result of a later round that of the task it does
 * anew. Of two answers the surer one stays, of equals the later one; of two results of a tool the later one.
 */
export function takePlaces(run: RunState, id: string, task: TaskState, said: readonly Fact[]): void {
  if (task.result?.status !== 'ok' || isJudge(task)) return;
  if (task.tier === 't2' && task.origin !== undefined && task.again === undefined)
    supersede(run, `${run.runId}/${task.epoch}/${task.origin}`, said);
  const redone = redoneBy(run, task);
  const isSure = ([, old]: readonly [string, TaskState]): boolean =>
    !isExpert(task.spec.capability) || (task.result!.confidence ?? 0) >= (old.result!.confidence ?? 0);
  const taken = redone.filter(isSure);
  for (const [old] of taken) supersede(run, old, said);
  if (redone.length > 0 && taken.length === 0) supersede(run, id);
}
