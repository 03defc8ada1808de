import type {
  CommandName,
  Complexity,
  Draft,
  FactOf,
  FailureNote,
  GapDetected,
  PlanCreated,
  PlannedTask,
  Reading,
  ResultReady,
  Review,
  RunFact,
  RunView,
  StrategyId,
  TaskInputDraft,
  RequestedTask,
  Template,
} from '@conclave/contracts';
import type { BudgetLevel } from './budget.js';
import type { Command, RunState, TaskState, Then } from './state.js';

/** Limits of a run of this strategy. */
export interface Limits {
  readonly rounds: number;
  /** Re-plans. */
  readonly adjusts: number;
  /** Consecutive failed rounds after which the run is stuck. */
  readonly stuck: number;
  /** Consecutive rounds without a new fact that count as a stall; null if none do. */
  readonly stall: number | null;
  /** Outcome when all rounds are used. */
  readonly end: 'completed' | 'limit_reached';
  readonly asks?: boolean;
  /** Confidence from which `sufficient` counts, 0 to 1; any if absent. */
  readonly threshold?: number;
}

/** A strategy's view of a run. If the result must not depend on the clock, `budget` is null and `lastRound` false. */
export interface View<Own = unknown> {
  readonly run: RunState;
  readonly own: Own;
  readonly template: Template;
  readonly budget: BudgetLevel | null;
  /** The open round is the last one. */
  readonly lastRound: boolean;
}

/** How a judge ended. `why` is a result status, or `budget`. */
export type Verdict =
  | { readonly result: ResultReady['data']; readonly why: null }
  | { readonly result: null; readonly why: string; readonly failure: FailureNote | null };

/** A question to a model whose answer folds into the strategy's own part of the state. */
export interface Judge<Own> {
  /** Its purpose, for people. */
  readonly task: string;
  input(view: View<Own>, ref: string): TaskInputDraft;
  take(own: Own, verdict: Verdict, view: View<Own>, ref: string): Own;
}

/** Why a strategy has to do without a plan. */
export type NoPlan = 'failed' | 'budget';

/** One next action. Only the last action of a list may be one of `lastMoves`. */
export type Move =
  | { readonly do: 'dispatch'; readonly tasks: readonly RequestedTask[]; readonly helper?: boolean }
  | {
      readonly do: 'judge';
      readonly name: string;
      readonly from?: 'reserve';
      readonly stream?: 'live' | 'held';
      readonly composes?: boolean;
    }
  | { readonly do: 'accept'; readonly task: string; readonly instead: readonly string[] }
  | { readonly do: 'cancel'; readonly what: 'open' | 'plan' | readonly string[] }
  | {
      readonly do: 'note';
      readonly data?: Readonly<Record<string, unknown>>;
      readonly code?: Extract<RunFact, { kind: 'Noted' }>['code'];
      readonly stage?: Extract<RunFact, { kind: 'Noted' }>['stage'];
      readonly text?: string;
      readonly taskId?: string;
      readonly detail?: string;
    }
  | { readonly do: 'record'; readonly fact: FactOf<'StepEvaluated' | 'MemoryReplaced' | 'MemoryCompressed'> }
  | { readonly do: 'reject'; readonly reason: string }
  | { readonly do: 'plan'; readonly forbidTried?: boolean }
  | { readonly do: 'take'; readonly plan: PlanCreated['data'] }
  | { readonly do: 'decide'; readonly reading: Reading }
  | { readonly do: 'ask'; readonly question: string }
  | { readonly do: 'say'; readonly draft: Draft }
  | { readonly do: 'become'; readonly strategy: string };

export const lastMoves: ReadonlySet<Move['do']> = new Set(['plan', 'take', 'decide', 'ask', 'say', 'become'] as const);

/** The strategy's contribution when a run ends. */
export interface Report {
  readonly complexity: Complexity;
  readonly review: Review;
  /** The answer is based on something that is valid only now or only for this run, so it is not cached for others. */
  readonly unique?: boolean;
  /** Results of the steps, by id, for later runs to recall; the engine adds the answer. If absent, nothing is stored. */
  readonly results?: readonly { readonly id: string; readonly text: string }[];
  /** For people: the plan that is held, the working memory and the scores. Absent for a strategy without steps. */
  readonly steps?: NonNullable<RunView['steps']>;
}

/**
 * A kind of loop. Pure: the same arguments return the same result; no clock, model or bus. The engine handles rounds, barriers, budgets,
 * repeats, commands and deadlines; the strategy decides what to do next.
 */
export interface Strategy<Own = unknown> {
  readonly id: StrategyId;
  /** Commands its runs accept in some state, `cancel` included; all others are refused before they reach a run. */
  readonly commands: readonly CommandName[];
  /** Its name for a round, such as `wave`. */
  readonly roundName?: string;
  limits(view: View<Own>): Limits;
  /** Seconds of wall time that its present plan may take; the run's own limit still applies. The view has no clock. */
  wallTimeS?(view: View<Own>): number;
  readonly planner: {
    /** Model calls that a run needs after a plan, for its tasks and the answer: the planner never gets them. 1 if absent. */
    readonly keeps?: number;
    /** Input for the next plan. */
    ask(view: View<Own>, why: { readonly forbidTried: boolean }): Pick<GapDetected['data'], 'results' | 'asked'>;
    /** Faults of a plan, as sentences; empty for a valid one. */
    faults(view: View<Own>, plan: PlanCreated['data']): readonly string[];
    /**
     * The plan to use if there is none; null if the run then ends, with what is known. `why`: the planner gave none, or the budget leaves
     * nothing for it.
     */
    fallback?(view: View<Own>, why: NoPlan): PlanCreated['data'] | null;
  };
  readonly judges: Readonly<Record<string, Judge<Own>>>;
  initial(view: View<unknown>): Own;
  /** The view has no clock. */
  evolve?(own: Own, fact: RunFact, view: View<Own>): Own;
  /** A task's input, made once its dependencies are settled. */
  task(view: View<Own>, ref: string, task: TaskState): TaskInputDraft;
  /** What a plan will do, for people; absent if its tasks say so. */
  announces?(plan: PlanCreated['data']): string | undefined;
  onPlan(view: View<Own>, plan: PlanCreated['data']): readonly Move[];
  /** Called before the round's barrier. */
  onResult?(view: View<Own>, ref: string, task: TaskState): readonly Move[];
  /** The next actions when nothing is open or awaited. Empty only while the run is finishing. */
  next(view: View<Own>): readonly Move[];
  onDecided?(view: View<Own>, then: Then): readonly Move[];
  onCommand?(view: View<Own>, command: Command): readonly Move[];
  /** An answer without a model; null if nothing is known. `reason` is why it is given now. */
  lastAnswer(view: View<Own>, reason: string): Draft | null;
  /** One line about the tasks of a round, and their findings, for the history. */
  summary(view: View<Own>, tasks: readonly PlannedTask[]): { readonly planSummary: string; readonly findings: string };
  report(view: View<Own>): Report;
}
