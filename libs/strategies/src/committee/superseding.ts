import { taskId } from '@conclave/contracts';
import { isExpert, isJudge, isNear, textKey, type Move, type RunState, type TaskState } from '@conclave/loop';
import { confidenceOf, heard } from './own.js';
import { capabilityOf } from '../capabilities/declared.js';

/** Whether a later call corrects the capability's results; passages of a search stay with their source. */
export const isTool = (capability: string): boolean => capabilityOf(capability)?.takesArguments ?? false;
const toolOf = ({ spec }: TaskState): string => `${spec.capability} ${spec.tool ?? ''}`;
/** A member that always answers is superseded only by the same model's later answer. */
const voiceOf = ({ tier, models }: TaskState): string => (tier === 'always' ? models.join(' ') : '');
const localOf = (task: TaskState): string => task.origin ?? task.spec.id;

/** Tasks that the plan marks as redone, as `<epoch>/<id>`. A bare id means the latest earlier task with it. */
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

/** Whether only one planned task of its round asks this of the same capability or tool; otherwise the match is ambiguous. */
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

/** Results of earlier rounds that this task redoes: named by its plan, or the same question to the same category or tool. */
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
 * Supersedes earlier results: an answer of the second tier supersedes that of the first, a better answer the unsure one, and a later
 * round's result that of the task it redoes. Of two answers the more confident one stays, or the later of two equal ones; of two tool
 * results the later one stays.
 */
export function takePlaces(run: RunState, ref: string, task: TaskState): readonly Move[] {
  if (task.result?.status !== 'ok' || isJudge(task)) return [];
  const first = task.tier === 't2' && task.again === undefined ? [taskId(run.runId, task.epoch, task.origin!)] : [];
  const redone = redoneBy(run, task);
  const isSure = ([, old]: readonly [string, TaskState]): boolean =>
    !isExpert(task.spec.capability) || confidenceOf(task) >= confidenceOf(old);
  const taken = redone.filter(isSure).map(([old]) => old);
  if (redone.length > 0 && taken.length === 0) {
    const places: readonly Move[] = first.length > 0 ? [{ do: 'accept', task: ref, instead: first }] : [];
    return [...places, { do: 'accept', task: redone[0]![0], instead: [ref] }];
  }
  const instead = [...first, ...(task.again ? [task.again] : []), ...taken];
  return instead.length > 0 || !task.accepted ? [{ do: 'accept', task: ref, instead }] : [];
}
