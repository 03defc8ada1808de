import type { Complexity, Draft, FailureNote, PlanCreated, Review, SafetyTopic, Verdict as GapVerdict } from '@conclave/contracts';
import { isExpert, tasksOf, type TaskState, type View } from '@conclave/loop';

/** The committee's own part of the state of a run. */
export interface Own {
  /** Null until a plan said it. A question stays as hard as it was: a later round is planned for a gap, not for the question. */
  readonly complexity: Complexity | null;
  /** First-tier models by category, as they were drawn from the scores. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
  /** `metadata_filters` of the last plan that had some. */
  readonly filters: Readonly<Record<string, string>>;
  /** Topics of the question on which a wrong answer does harm. */
  readonly safety: readonly SafetyTopic[];
  /** What came instead of the first plan. */
  readonly refused: PlanCreated['data'] | null;
  /** What the gap check of this round said. */
  readonly gap: { readonly verdict: GapVerdict; readonly unread: 'failed' | 'unreadable' | null } | null;
  /** The budget leaves no call for the gap check. */
  readonly unaffordable: boolean;
  /** Rounds of refinement that were begun, and where the one under way stands. */
  readonly refined: number;
  readonly refining: 'no' | 'hints' | 'answers' | 'score' | 'scored';
  readonly hints: Readonly<Record<string, string>>;
  readonly scores: readonly { readonly taskId: string; readonly before: number; readonly after: number }[];
  /** Result of the thinking step of this round; empty where it gave none, null before. */
  readonly thinking: string | null;
  readonly draft: Draft | null;
  /** No draft could be written that could be assessed. */
  readonly undraftable: boolean;
  /** Why no model wrote the answer; empty where none could be asked. */
  readonly unwritten: string | null;
  readonly review: Review | null;
}

export type CommitteeView = View<Own>;

/** What a new plan begins anew. */
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

/** What a plan says that later rounds go by. */
export function withPlan(own: Own, { epoch, complexity, safety, choices, tasks }: PlanCreated['data']): Own {
  const filters = tasks.find((task) => task.metadata_filters)?.metadata_filters;
  return {
    ...own,
    ...fresh,
    complexity: epoch === 0 ? complexity : own.complexity,
    safety: [...new Set([...own.safety, ...safety])],
    choices: Object.keys(choices).length > 0 ? choices : own.choices,
    filters: filters ?? own.filters,
  };
}

/** Below this an expert is unsure: the second tier is asked, and the judge asks for a better answer (moe.md, Experts). */
export const sureFrom = 0.65;

export const categoryOf = ({ spec }: TaskState): string => spec.capability.slice('expert.'.length);

/** Answers of experts that count: those that were not accepted, or whose place a better one took, do not. */
export const heard = (task: TaskState): boolean =>
  isExpert(task.spec.capability) && task.result?.status === 'ok' && task.accepted && !task.superseded;

/** Answers of the round that are heard, one for each planned task. Members that always answer stand for themselves. */
export const heardNow = ({ run }: CommitteeView): readonly (readonly [string, TaskState])[] =>
  tasksOf(run, run.epoch).filter(([, task]) => heard(task) && task.tier !== 'always');

export const confidenceOf = ({ result }: TaskState): number => result?.confidence ?? 0;

/** Whether a program reads the answer: then nobody but the composer knows its format. */
export const wantsFormat = ({ run }: CommitteeView): boolean => {
  const format = run.request.answer.response_format;
  return format !== undefined && format['type'] !== 'text';
};

export const failureText = (failure: FailureNote | null): string => failure?.message ?? 'no reply';
