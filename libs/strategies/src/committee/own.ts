import type { Complexity, Draft, FailureNote, PlanCreated, Review, SafetyTopic, GapVerdict } from '@conclave/contracts';
import { isExpert, tasksOf, type TaskState, type View } from '@conclave/loop';
import { isOneExpert } from './one-expert.js';

/** The committee's own part of the state of a run. */
export interface Own {
  /** Null until the first plan sets it. Later plans do not change it: they plan for a gap, not for the question. */
  readonly complexity: Complexity | null;
  /** First-tier models by category, in the order drawn from the scores. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
  /** `metadata_filters` of the last plan that had some. */
  readonly filters: Readonly<Record<string, string>>;
  /** Topics of the question where a wrong answer does harm. */
  readonly safety: readonly SafetyTopic[];
  /** The refused first plan. */
  readonly refused: PlanCreated['data'] | null;
  /** Result of this round's gap check. */
  readonly gap: { readonly verdict: GapVerdict; readonly unread: 'failed' | 'unreadable' | null } | null;
  /** True if the budget leaves no call for the gap check. */
  readonly unaffordable: boolean;
  /** Refinement rounds begun, and the state of the current one. */
  readonly refined: number;
  readonly refining: 'no' | 'hints' | 'answers' | 'score' | 'scored';
  readonly hints: Readonly<Record<string, string>>;
  readonly scores: readonly { readonly taskId: string; readonly before: number; readonly after: number }[];
  /** Result of this round's thinking step; empty if it had none, null before it. */
  readonly thinking: string | null;
  readonly draft: Draft | null;
  /** True if no draft could be written for assessment. */
  readonly undraftable: boolean;
  /** Why no model wrote the answer; empty if none could be called. */
  readonly unwritten: string | null;
  readonly review: Review | null;
}

export type CommitteeView = View<Own>;

/** State that a new plan resets. */
export const fresh = {
  gap: null,
  unaffordable: false,
  refined: 0,
  refining: 'no',
  hints: {},
  scores: [],
  thinking: null,
  draft: null,
  undraftable: false,
} as const satisfies Partial<Own>;

export const initialOwn: Own = {
  complexity: null,
  choices: {},
  filters: {},
  safety: [],
  refused: null,
  unwritten: null,
  review: null,
  ...fresh,
};

/** Stores what later rounds use of a plan. */
export function withPlan(own: Own, plan: PlanCreated['data']): Own {
  const { epoch, complexity, safety, choices, tasks } = plan;
  const filters = tasks.find((task) => task.metadata_filters)?.metadata_filters;
  return {
    ...own,
    ...fresh,
    complexity: epoch === 0 || isOneExpert(plan) ? complexity : own.complexity,
    safety: [...new Set([...own.safety, ...safety])],
    choices: Object.keys(choices).length > 0 ? choices : own.choices,
    filters: filters ?? own.filters,
  };
}

/** Confidence below which an expert is unsure: the second tier is asked, and the judge requests a better answer. */
export const sureFrom = 0.65;

export const categoryOf = ({ spec }: TaskState): string => spec.capability.slice('expert.'.length);

/** Whether an expert's answer counts: not if it was rejected or superseded. */
export const heard = (task: TaskState): boolean =>
  isExpert(task.spec.capability) && task.result?.status === 'ok' && task.accepted && !task.superseded;

/** Answers of the round that count, one per planned task; members that always answer count separately. */
export const heardNow = ({ run }: CommitteeView): readonly (readonly [string, TaskState])[] =>
  tasksOf(run, run.epoch).filter(([, task]) => heard(task) && task.tier !== 'always');

export const confidenceOf = ({ result }: TaskState): number => result?.confidence ?? 0;

/** Whether a program reads the answer: only the composer knows its format. */
export const wantsFormat = ({ run }: CommitteeView): boolean => {
  const format = run.request.answer.response_format;
  return format !== undefined && format['type'] !== 'text';
};

export const failureText = (failure: FailureNote | null): string => failure?.message ?? 'no reply';
