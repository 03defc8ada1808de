import type {
  Allowance,
  AnswerParameters,
  Caller,
  CommandIssued,
  FailureNote,
  HistoryEntry,
  Insight,
  Memory,
  Outcome,
  PlanCreated,
  PlannedTask,
  ResultReady,
  RuleId,
  RunLimits,
  Source,
  Template,
  TextMessage,
  Usage,
  Verdict,
} from '@conclave/contracts';
import { noUsage } from '@conclave/contracts';

/** Where a run stands. `unborn`: something about it arrived before its PlanRequested. */
export type Phase = 'unborn' | 'planning' | 'collecting' | 'assessing' | 'composing' | 'waiting' | 'done';

export interface TaskState {
  readonly spec: PlannedTask;
  readonly epoch: number;
  readonly taskClass: string;
  status: 'blocked' | 'open' | 'settled';
  /** What was reserved of the budget when it was dispatched. */
  allowance: Allowance | null;
  openedAt: number | null;
  result: TaskResult | null;
  /** Usage of a result that came after the engine had already settled the task. */
  lateUsage: Usage | null;
}

export interface TaskResult {
  readonly status: ResultReady['data']['status'] | 'repeated';
  readonly text: string;
  readonly confidence: number | null;
  readonly facts: number;
  readonly gaps: readonly string[];
  /** Categories the expert referred to; absent in states of the first version. */
  readonly refer?: readonly string[];
  readonly model: string | null;
  readonly failure: FailureNote | null;
  readonly usage: Usage;
  readonly attempt: number;
  readonly durationMs: number;
  readonly settledAt: number;
}

export interface PlanRecord {
  readonly epoch: number;
  readonly complexity: string;
  readonly fallback: boolean;
  readonly taskIds: readonly string[];
  readonly usage: Usage;
  readonly failure: FailureNote | null;
}

export interface DecisionRecord {
  readonly epoch: number;
  readonly rule: RuleId;
  readonly sentence: string;
  readonly at: number;
}

/** How the run is going to end, once a row of the table has said so. */
export interface Ending {
  readonly outcome: Outcome;
  readonly rule: RuleId | null;
  readonly reason: string;
  readonly reasonCode: string;
}

export interface Draft {
  readonly text: string;
  readonly sources: readonly Source[];
  readonly insight: Insight | null;
  readonly cutShort: boolean;
  readonly epoch: number;
}

/** One run as a value. JSON; everything in it came in by an event. */
export interface RunState {
  readonly runId: string;
  phase: Phase;
  goal: string;
  conversation: TextMessage[];
  system: string | null;
  template: Template | null;
  limits: RunLimits | null;
  caller: Caller | null;
  parameters: AnswerParameters;
  origin: 'chat' | 'runs';
  startedAt: number;
  /** Number of the plan that is awaited or running. */
  epoch: number;
  earlyPlans: Record<number, PlanCreated['data']>;
  earlyResults: Record<string, ResultReady['data']>;
  earlyCommands: CommandIssued['data'][];
  plans: PlanRecord[];
  tasks: Record<string, TaskState>;
  memory: Memory;
  history: HistoryEntry[];
  decisions: DecisionRecord[];
  counters: { rounds: number; failedRounds: number; roundsWithoutFacts: number };
  /** Facts in the ledger when the current round began. */
  factsBefore: number;
  spent: Usage;
  timers: Record<string, { arm: number; dueAt: number | null }>;
  commandSeq: number;
  assessment: Verdict | null;
  gap: string;
  nextFocus: string;
  draft: Draft | null;
  ending: Ending | null;
  answer: Draft | null;
  failure: FailureNote | null;
  completedAt: number | null;
}

export const unborn = (runId: string): RunState => ({
  runId,
  phase: 'unborn',
  goal: '',
  conversation: [],
  system: null,
  template: null,
  limits: null,
  caller: null,
  parameters: {},
  origin: 'chat',
  startedAt: 0,
  epoch: 0,
  earlyPlans: {},
  earlyResults: {},
  earlyCommands: [],
  plans: [],
  tasks: {},
  memory: { goal: '', searchQuestion: null, facts: [], tried: [], userInputs: [] },
  history: [],
  decisions: [],
  counters: { rounds: 0, failedRounds: 0, roundsWithoutFacts: 0 },
  factsBefore: 0,
  spent: noUsage,
  timers: {},
  commandSeq: 0,
  assessment: null,
  gap: '',
  nextFocus: '',
  draft: null,
  ending: null,
  answer: null,
  failure: null,
  completedAt: null,
});

/** A run that has been accepted: its template and limits are known. */
export type BornRun = RunState & { template: Template; limits: RunLimits; caller: Caller };

export const isBorn = (run: RunState): run is BornRun => run.template !== null && run.limits !== null && run.caller !== null;

export const tasksOf = (run: RunState, epoch: number): readonly [string, TaskState][] =>
  Object.entries(run.tasks).filter(([, task]) => task.epoch === epoch);

export const isJudge = (task: TaskState): boolean => task.spec.capability.startsWith('judge.');
