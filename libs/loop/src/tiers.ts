import { taskId } from '@conclave/contracts';
import type { Moves } from './moves.js';
import { isExpert } from './plan-rules.js';
import { tasksOf, type BornRun, type TaskState } from './state.js';

/** Below this an expert is unsure: the second tier is asked, and the judge asks for a better answer (moe.md, Experts). */
export const sureFrom = 0.65;

export const categoryOf = (task: TaskState): string => task.spec.capability.slice('expert.'.length);

const profileOf = (run: BornRun, category: string) => run.template.experts[category] ?? run.template.experts['general'];

/** Models an expert task asks, first one first. */
export function expertModels(run: BornRun, task: TaskState): readonly string[] {
  if (task.models) return task.models;
  const category = categoryOf(task);
  const profile = profileOf(run, category);
  if (task.tier === 't2') return profile?.t2 ?? [];
  return run.choices?.[category] ?? profile?.t1 ?? [];
}

/** Whether an unsure answer of this category is asked of a second tier. */
export const hasSecondTier = (run: BornRun, category: string): boolean => (profileOf(run, category)?.t2?.length ?? 0) > 0;

/** Tasks that stand beside a planned one from the start: the members that always answer. Their ids cannot be a planner's. */
export function membersOf(run: BornRun, task: TaskState): readonly TaskState[] {
  if (!isExpert(task.spec.capability)) return [];
  const always = profileOf(run, categoryOf(task))?.always ?? [];
  return always.map((model, index) => ({
    ...task,
    spec: { ...task.spec, id: `${task.spec.id}~a${index + 1}` },
    origin: task.spec.id,
    tier: 'always',
    models: [model],
  }));
}

/**
 * The second tier of a first-tier expert that was unsure or failed, as a task of the same round; null where there is none or it was asked
 * already.
 */
export function secondTierOf(run: BornRun, task: TaskState): readonly [string, TaskState] | null {
  if (!isExpert(task.spec.capability) || task.epoch !== run.epoch || (task.tier ?? 't1') !== 't1' || task.standing) return null;
  const { result } = task;
  if (!result || result.status === 'repeated' || result.status === 'cancelled') return null;
  if (result.status === 'ok' && (result.confidence ?? 0) >= sureFrom) return null;
  if (!hasSecondTier(run, categoryOf(task))) return null;
  const local = `${task.spec.id}~t2`;
  const id = taskId(run.runId, run.epoch, local);
  if (run.tasks[id]) return null;
  return [
    id,
    {
      spec: { ...task.spec, id: local },
      epoch: task.epoch,
      taskClass: task.taskClass,
      status: 'blocked',
      allowance: null,
      openedAt: null,
      result: null,
      lateUsage: null,
      origin: task.spec.id,
      tier: 't2',
    },
  ];
}

/** Asks the second tier where the first one was unsure, and says so. */
export function escalate(moves: Moves, id: string, task: TaskState): void {
  const second = secondTierOf(moves.run, task);
  if (!second) return;
  moves.run.tasks[second[0]] = second[1];
  const { result } = task;
  const why = result?.status === 'ok' ? `unsure (${result.confidence ?? 'no confidence'}, needs ${sureFrom})` : 'without an answer';
  moves.think('expert.tier', `The ${categoryOf(task).replaceAll('_', ' ')} expert is ${why}: a model of the second tier is asked`, id);
}

/** Answers of experts that count: candidates, rejected and superseded ones do not. */
export const heard = (task: TaskState): boolean =>
  isExpert(task.spec.capability) &&
  task.result?.status === 'ok' &&
  task.standing !== 'candidate' &&
  task.standing !== 'rejected' &&
  !task.superseded;

/** Answers of a round that are heard, one for each planned task. Members that always answer stand for themselves. */
export const heardIn = (run: BornRun, epoch: number): readonly (readonly [string, TaskState])[] =>
  tasksOf(run, epoch).filter(([, task]) => heard(task) && task.tier !== 'always');
