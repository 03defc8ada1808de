import type {
  CommandName,
  Complexity,
  Draft,
  FailureNote,
  GapDetected,
  PlanCreated,
  PlannedTask,
  Reading,
  ResultReady,
  Review,
  RunFact,
  StrategyId,
  TaskInputDraft,
  TaskWish,
  Template,
} from '@conclave/contracts';
import type { BudgetLevel } from './budget.js';
import type { Command, RunState, TaskState, Then } from './state.js';

/** How far a run of this strategy may go. */
export interface Limits {
  readonly rounds: number;
  /** Re-plans. */
  readonly adjusts: number;
  /** Failed rounds in a row after which it is stuck. */
  readonly stuck: number;
  /** Rounds in a row without a new fact that are a stall; null where none is. */
  readonly stall: number | null;
  /** Outcome when all rounds are used. */
  readonly end: 'completed' | 'limit_reached';
  readonly asks?: boolean;
}

/** What a strategy sees of a run. `budget` and `lastRound` are null where nothing may depend on the clock. */
export interface View<Own = unknown> {
  readonly run: RunState;
  readonly own: Own;
  readonly template: Template;
  readonly budget: BudgetLevel | null;
  /** No round is left after the open one. */
  readonly lastRound: boolean;
}

/** How a judge ended. `why` is a status of a result, or `budget`. */
export type Verdict =
  | { readonly result: ResultReady['data']; readonly why: null }
  | { readonly result: null; readonly why: string; readonly failure: FailureNote | null };

/** A question to a model whose answer folds into the strategy's own part of the state. */
export interface Judge<Own> {
  /** What it is asked for, for people. */
  readonly task: string;
  input(view: View<Own>, ref: string): TaskInputDraft;
  take(own: Own, verdict: Verdict, view: View<Own>, ref: string): Own;
}

/** What follows. Those of the second group end a list, which has at most one of them. */
export type Move =
  | { readonly do: 'dispatch'; readonly tasks: readonly TaskWish[]; readonly helper?: boolean }
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
      readonly text?: string;
      readonly taskId?: string;
      readonly detail?: string;
    }
  | { readonly do: 'reject'; readonly reason: string }
  | { readonly do: 'plan'; readonly forbidTried?: boolean }
  | { readonly do: 'take'; readonly plan: PlanCreated['data'] }
  | { readonly do: 'decide'; readonly reading: Reading }
  | { readonly do: 'ask'; readonly question: string }
  | { readonly do: 'say'; readonly draft: Draft }
  | { readonly do: 'become'; readonly strategy: string };

export const lastMoves: ReadonlySet<Move['do']> = new Set(['plan', 'take', 'decide', 'ask', 'say', 'become'] as const);

/** What the engine takes from nobody but the strategy when a run ends. */
export interface Report {
  readonly complexity: Complexity;
  readonly review: Review;
  /** What the answer rests on holds only now, or was done for this run: the answer is kept for nobody else. */
  readonly unique?: boolean;
}

/**
 * A kind of loop. Pure: the same arguments give the same result; it knows no clock, no model and no bus. The engine holds rounds, barriers,
 * budgets, repeats, commands and deadlines; the strategy says what is wanted next.
 */
export interface Strategy<Own = unknown> {
  readonly id: StrategyId;
  /** What its runs take in some state; everything else is refused before it reaches a run. `cancel` is among them. */
  readonly commands: readonly CommandName[];
  /** What it calls a round, such as `wave`. */
  readonly roundName?: string;
  limits(view: View<Own>): Limits;
  readonly planner: {
    /** What the next plan is made from. */
    ask(view: View<Own>, why: { readonly forbidTried: boolean }): Pick<GapDetected['data'], 'results' | 'asked'>;
    /** What is wrong with a plan, as sentences; empty for one that may run. */
    faults(view: View<Own>, plan: PlanCreated['data']): readonly string[];
    /** The plan that holds where there is none; null where the run ends then. */
    fallback?(view: View<Own>): PlanCreated['data'] | null;
  };
  readonly judges: Readonly<Record<string, Judge<Own>>>;
  initial(view: View<unknown>): Own;
  /** Its view has no clock. */
  evolve?(own: Own, fact: RunFact, view: View<Own>): Own;
  /** What a task works on, made when everything that it needs is settled. */
  task(view: View<Own>, ref: string, task: TaskState): TaskInputDraft;
  /** What a plan says that it does, for people; absent where its tasks say it. */
  announces?(plan: PlanCreated['data']): string | undefined;
  onPlan(view: View<Own>, plan: PlanCreated['data']): readonly Move[];
  /** Before the barrier of the round. */
  onResult?(view: View<Own>, ref: string, task: TaskState): readonly Move[];
  /** Nothing is open and nothing awaited: what now? Empty only while the run is finishing. */
  next(view: View<Own>): readonly Move[];
  onDecided?(view: View<Own>, then: Then): readonly Move[];
  onCommand?(view: View<Own>, command: Command): readonly Move[];
  /** The answer that needs no model; null where nothing is known. `reason` is why it is given now. */
  lastAnswer(view: View<Own>, reason: string): Draft | null;
  /** One line about the tasks of a round, and what they found, for the history. */
  summary(view: View<Own>, tasks: readonly PlannedTask[]): { readonly planSummary: string; readonly findings: string };
  report(view: View<Own>): Report;
}
