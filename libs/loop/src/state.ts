import type {
  Allowance,
  AnswerParameters,
  Attachment,
  CachedAnswer,
  CacheKeys,
  Caller,
  CommandIssued,
  Complexity,
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
  SafetyTopic,
  Source,
  Template,
  TextMessage,
  Usage,
  Verdict,
} from '@conclave/contracts';
import { noUsage } from '@conclave/contracts';

/**
 * Where a run stands. `unborn`: something about it arrived before its PlanRequested. `refining` and `thinking` come before an answer is
 * written, `reviewing` after it.
 */
export type Phase =
  'unborn' | 'planning' | 'collecting' | 'assessing' | 'refining' | 'thinking' | 'composing' | 'reviewing' | 'waiting' | 'done';

export type Tier = 't1' | 't2' | 'always';

export interface TaskState {
  readonly spec: PlannedTask;
  readonly epoch: number;
  readonly taskClass: string;
  status: 'blocked' | 'open' | 'settled';
  /** What was reserved of the budget when it was dispatched. */
  allowance: Allowance | null;
  openedAt: number | null;
  result: TaskResult | null;
  /** Of a task that the engine made out of another one of the same round: the local id of that one. */
  readonly origin?: string;
  readonly tier?: Tier;
  /** Models it asks instead of those of its tier. */
  readonly models?: readonly string[];
  /** Of an expert that was asked again: the task whose answer was unsure, and what the judge wanted. Its answer counts only once it was scored better. */
  readonly again?: string;
  readonly hints?: string;
  standing?: 'candidate' | 'accepted' | 'rejected';
  /** A later or better result took its place; it is history. */
  superseded?: boolean;
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
  /** The model stopped at its token limit. */
  readonly cutShort?: boolean;
  /** What the ledger keeps of an expert's answer. */
  readonly finding?: string;
  /** What whoever reads evidence must know of it. */
  readonly notes?: readonly string[];
  /** Of the judge's own tasks. */
  readonly hints?: Readonly<Record<string, string>>;
  readonly scores?: readonly { readonly taskId: string; readonly before: number; readonly after: number }[];
  readonly critique?: {
    readonly verdict: 'confirmed' | 'corrected' | 'unparsable';
    readonly reasons: readonly string[];
    readonly text: string | null;
  };
}

export interface PlanRecord {
  readonly epoch: number;
  readonly complexity: string;
  readonly signals?: readonly string[];
  /** True when it came from the plan cache. */
  readonly cached?: boolean;
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

/** What is being written, while unsure experts are asked again and the thinking step runs before it. */
export interface Composing {
  /** `draft`: to be assessed; `final`: the answer. */
  readonly purpose: 'draft' | 'final';
  /** Rounds of refinement that were begun. */
  refined: number;
  /** Tasks of the experts that are asked again in the round under way. */
  again: readonly string[];
  stage: 'hints' | 'answers' | 'score' | 'done';
  /** Thinking step: not asked for yet, under way, or over. */
  thinking: 'open' | 'asked' | 'over';
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
  /** Cited sentences with numbers or names that do not occur in their source. */
  readonly unsupported?: readonly { readonly n: number; readonly sentence: string; readonly missing: readonly string[] }[];
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
  /** Calls that were in flight when it ended; absent where there were none. */
  openCalls?: number;
  timers: Record<string, { arm: number; dueAt: number | null }>;
  commandSeq: number;
  assessment: Verdict | null;
  gap: string;
  nextFocus: string;
  /** Absent until a plan said it, and in runs of the first version. */
  complexity?: Complexity;
  /** First-tier models by category, as the planner's service drew them from the scores. */
  choices?: Record<string, string[]>;
  /** `metadata_filters` of the last plan that had some. */
  filters?: Record<string, string>;
  attachments?: Attachment[];
  cached?: CachedAnswer;
  /** Absent where the run may neither read nor fill a cache. */
  caching?: CacheKeys;
  skill?: { name: string; arguments: string; version: number } | null;
  detail?: 'redacted' | 'full';
  composing?: Composing;
  /** Result of the thinking step of this round. */
  thinking?: string;
  /** Topics of the question on which a wrong answer does harm; absent where there are none. */
  safety?: SafetyTopic[];
  /** The answer that the critic has in hand. */
  reviewing?: Draft | null;
  review?: 'none' | 'confirmed' | 'corrected' | 'unparsable' | 'not_reviewed';
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
