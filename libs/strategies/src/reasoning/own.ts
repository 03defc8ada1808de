import { type Draft, type Rubric } from '@conclave/contracts';
import { isJudge, type TaskState, type View } from '@conclave/loop';
import { asAsked } from '../prompts/as-asked.js';
import { shownBefore } from '../prompts/follow-up.js';
import { excerptOf } from '../prompts/excerpt.js';
import { optionsOf } from './options.js';
import { stepLine } from './render.js';
import type { Quality } from './rubric.js';
import type { Decision, PlanInput, Prepared, Seen, ReasoningStep } from './values.js';

/** Own state of the strategy. */
export interface Own {
  /** The phase that is next. `ready`: the step has ended, and a decision is due. */
  readonly doing: 'prior' | 'prepare' | 'run' | 'evaluate' | 'ready';
  /** What was known before the run, one line each. */
  readonly prior: readonly string[];
  /** The held plan; null before the first. */
  readonly steps: readonly ReasoningStep[] | null;
  /** The current step of the plan. */
  readonly index: number;
  /** Number of steps that were run, and how many of them before the current plan. */
  readonly ran: number;
  readonly before: number;
  /** A step given by the user, which is run instead of the current one. */
  readonly override: ReasoningStep | null;
  readonly input: Prepared | null;
  /** The working memory, and a text that is to replace it. */
  readonly memory: string;
  readonly proposed: { readonly by: string; readonly text: string } | null;
  /** Round after which the memory was compressed last. */
  readonly compressed: number;
  /** Means of the evaluations, oldest first. */
  readonly scores: readonly number[];
  readonly evaluation: {
    readonly ref: string;
    readonly rubric: Rubric;
    readonly mean: number;
    readonly summary: string;
    readonly durationMs: number;
  } | null;
  /** Whether the evaluation is not a fact of the run yet. */
  readonly untold: boolean;
  /** Quality of the last step; null if it was not scored. */
  readonly quality: Quality | null;
  readonly word: Decision | null;
  /** Whether a reply could not be read. */
  readonly invalid: boolean;
  /** Whether no usable input arrived, so that the step was not run. */
  readonly unprepared: boolean;
  /** The work for which the budget leaves no call. */
  readonly unaffordable: string | null;
  readonly confidentAdjusts: number;
  /** Why the goal is out of reach. */
  readonly impossible: string | null;
  /** Why a new plan is made. */
  readonly reason: string | null;
  readonly draft: Draft | null;
  /** Why no model wrote the answer; empty if none could be called. */
  readonly unwritten: string | null;
}
export type ReasoningView = View<Own>;

export const initialOwn: Own = {
  doing: 'prior',
  prior: [],
  steps: null,
  index: 0,
  ran: 0,
  before: 0,
  override: null,
  input: null,
  memory: '',
  proposed: null,
  compressed: 0,
  scores: [],
  evaluation: null,
  untold: false,
  quality: null,
  word: null,
  invalid: false,
  unprepared: false,
  unaffordable: null,
  confidentAdjusts: 0,
  impossible: null,
  reason: null,
  draft: null,
  unwritten: null,
};

/** State that is reset when the next step begins. */
export const fresh: Partial<Own> = {
  doing: 'prepare',
  override: null,
  input: null,
  evaluation: null,
  untold: false,
  quality: null,
  word: null,
  invalid: false,
  unprepared: false,
  unaffordable: null,
};

export const currentStep = ({ override, steps, index }: Own): ReasoningStep | null => override ?? steps?.[index] ?? null;

/** Steps of the plan that are left after the current one; a plan that is still to be made counts as one. */
export const stepsLeft = ({ steps, index, override, unprepared }: Own): number =>
  steps === null ? 1 : Math.max(0, steps.length - index - (override || unprepared ? 0 : 1));

/** Steps of the held plan that have not begun. */
export const stepsAhead = ({ steps, index, override, doing }: Own): readonly ReasoningStep[] =>
  (steps ?? []).slice(index + (override === null && ['run', 'evaluate', 'ready'].includes(doing) ? 1 : 0));

/** Tasks of steps, oldest first. */
export const stepTasks = ({ run }: ReasoningView): readonly (readonly [string, TaskState])[] =>
  Object.entries(run.tasks).filter(([, task]) => !isJudge(task) && !task.helper);

/** The task of the step that was run last. */
export const lastStep = (view: ReasoningView): readonly [string, TaskState] | undefined => stepTasks(view).at(-1);

/** Number of the round: the open one, or the last. */
export const roundOf = ({ run }: ReasoningView): number => run.rounds + (run.round ? 1 : 0);

/** Whether the user of this run may be asked. */
export function mayAsk({ run, template }: ReasoningView): boolean {
  const { ask_user: asks } = optionsOf(template);
  return asks === 'always' || (asks === 'runs' && run.request.origin === 'runs');
}

/** Earlier questions; only the planner sees the whole conversation. */
function beforeOf(request: ReasoningView['run']['request']): { before?: string[] } {
  const before = shownBefore(request);
  return before.length === 0 ? {} : { before: [...before] };
}

/** What every prompt shows. */
export const seenBy = ({ run, own }: ReasoningView): Seen => ({
  goal: run.request.goal,
  ...beforeOf(run.request),
  ...asAsked(run.request),
  memory: own.memory,
});

/** Characters of one output that later prompts see before they shorten it further. */
const shownOutput = 2_000;

/** Steps that were run, for prompts; of a long output, what is most likely needed to do what `about` says. */
export const doneOf = (view: ReasoningView, about: string): PlanInput['done'] =>
  stepTasks(view).flatMap(([, { spec, result }]) =>
    result
      ? [
          {
            step: stepLine({ capability: spec.tool ?? spec.capability, input_description: spec.task, reason: '' }),
            status: result.status === 'ok' ? 'done' : result.status,
            output: excerptOf(result.failure?.message ?? result.text, shownOutput, about),
          },
        ]
      : [],
  );

/** The text that is to replace the working memory; unchanged if the reply keeps the memory as it is. */
export const proposing = (own: Own, by: string, text: string | null | undefined): Pick<Own, 'proposed'> => ({
  proposed: text && text !== own.memory ? { by, text } : own.proposed,
});
