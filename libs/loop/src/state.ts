import type {
  Allowance,
  CommandIssued,
  Draft,
  Ending,
  FactOf,
  FailureNote,
  PastRound,
  KeptPlan,
  Memory,
  PlanCreated,
  PlanRequested,
  ResultReady,
  RequestedTask,
  Usage,
} from '@conclave/contracts';

export type Command = CommandIssued['data']['command'];

/** Questions the strategy must still answer, in this order. */
export type Owed =
  | { readonly hook: 'plan' }
  | { readonly hook: 'noPlan'; readonly why: string }
  | { readonly hook: 'result'; readonly ref: string }
  | { readonly hook: 'decided'; readonly then: Then }
  | { readonly hook: 'command'; readonly seq: number; readonly command: Command };

export type Then = Exclude<FactOf<'Decided'>['then'], 'finish'>;

/** What is kept of a result beside its output. */
type ReportedMember = 'confidence' | 'gaps' | 'refer' | 'model' | 'failure' | 'usage' | 'attempt' | 'durationMs';

export interface TaskResult extends Readonly<Pick<ResultReady['data'], ReportedMember>> {
  readonly status: ResultReady['data']['status'] | 'repeated';
  readonly text: string;
  /** Number of its facts that were new. */
  readonly facts: number;
  readonly cutShort: boolean;
  /** The finding of an expert's answer in the ledger. */
  readonly finding: string | null;
  /** Warnings for readers of the evidence. */
  readonly notes: readonly string[];
  /** Identities of its facts, if earlier results contained some of them. */
  readonly echoes: readonly string[];
}

export interface TaskState extends Omit<RequestedTask, 'action'> {
  /** Null for a task that is never a repeat. */
  readonly action: RequestedTask['action'];
  readonly epoch: number;
  readonly taskClass: string;
  /** True outside the round: judges, and experts that are asked again. */
  readonly helper: boolean;
  readonly status: 'blocked' | 'open' | 'settled';
  /** Reserved budget while it is open. */
  readonly allowance: Allowance | null;
  readonly startBy: number;
  readonly deadline: number;
  readonly started: boolean;
  readonly result: TaskResult | null;
  /** False until the task is accepted, if its facts join the memory only then (`learn: 'accepted'`); true for every other task. */
  readonly accepted: boolean;
  /** Replaced by a later or better result. */
  readonly superseded: boolean;
  /** The engine settled it, so no worker has reported its outcome. */
  readonly unanswered: boolean;
  /** Usage of a result that arrived after the engine had settled the task. */
  readonly lateUsage: Usage | null;
}

/** A taken plan, without its tasks. */
export type PlanRecord = Readonly<
  Pick<PlanCreated['data'], 'epoch' | 'complexity' | 'cached' | 'fallback' | 'usage' | 'failure' | 'content'>
>;

export type DecisionRecord = Readonly<Pick<FactOf<'Decided'>, 'epoch' | 'rule' | 'sentence' | 'at'>>;

/** A command that reached the run. */
export interface CommandRecord extends Readonly<Pick<FactOf<'CommandAccepted'>, 'seq' | 'name' | 'actor' | 'at'>> {
  readonly key: string | null;
  readonly status: 'accepted' | 'applied' | 'rejected';
  readonly epoch: number | null;
  readonly reason: string | null;
}

/** One run as a JSON value, folded only from facts. */
export interface RunState {
  readonly runId: string;
  readonly request: PlanRequested['data'];
  /** For a fork: the run that it continues, the usage of that run up to the step, and its settled tasks. Absent for any other run. */
  readonly forked?: {
    readonly of: string;
    readonly step: number;
    readonly before: Usage;
    readonly settled: readonly string[];
  };
  /** The current strategy. */
  readonly strategy: string;
  /** The code of the strategy failed and is no longer called; absent otherwise. */
  readonly faulty?: true;
  /** Why this version could not fold what is recorded after this state: the run can only be ended. Absent otherwise, and never stored. */
  readonly unusable?: string;
  /** The strategy's own part of the state. */
  readonly own: unknown;
  /** Number of the awaited or running plan. */
  readonly epoch: number;
  readonly plan: PlanCreated['data'] | null;
  readonly awaiting: { readonly epoch: number; readonly deadline: number } | null;
  /**
   * Plans that the engine stopped waiting for, in order; absent if there are none. Until `counted`, the call of its planner may still cause
   * usage.
   */
  readonly givenUp?: readonly { readonly epoch: number; readonly counted: boolean }[];
  /** Number of accepted plans, and the epoch of the last one; -1 before. */
  readonly planned: number;
  readonly taken: number;
  readonly plans: readonly PlanRecord[];
  /** First plan, if a model made it and the plan cache may store it once the run has ended well. */
  readonly keptPlan: KeptPlan | null;
  readonly tasks: Readonly<Record<string, TaskState>>;
  /** When a worker's result first reported the run's cancel flag, whose command has not arrived; absent otherwise. */
  readonly flaggedAt?: number;
  /** Tasks of the open round; null if none is open. */
  readonly round: readonly string[] | null;
  readonly factsBefore: number;
  readonly memory: Memory;
  readonly history: readonly PastRound[];
  readonly decisions: readonly DecisionRecord[];
  readonly rounds: number;
  readonly failedRounds: number;
  readonly roundsWithoutFacts: number;
  /** A stall was already answered with another plan. */
  readonly adjusted: boolean;
  readonly replans: number;
  readonly gap: string;
  readonly nextFocus: string;
  /** Whether the last round was assessed with a readable verdict. */
  readonly assessed: boolean;
  readonly spent: Usage;
  /** Seconds of wall time that the strategy allows for what it plans now; absent if only the limits of the run count. */
  readonly wallS?: number;
  /** Milliseconds the run's clock ran before `since`; `since` is null while the clock is stopped. */
  readonly ran: number;
  readonly since: number | null;
  readonly paused: { readonly until: number } | null;
  readonly question: {
    readonly text: string;
    readonly deadline: number;
    /** Calls of tools of the client; absent if the run waits for its user. */
    readonly calls?: FactOf<'QuestionAsked'>['calls'];
  } | null;
  readonly commands: readonly CommandRecord[];
  /** Number of the last pause or resume. */
  readonly pauseSeq: number;
  /** A task whose complete text was streamed: it is the answer. */
  readonly live: string | null;
  readonly owed: readonly Owed[];
  readonly ending: Ending | null;
  readonly answer: Draft | null;
  /** Failure of the last refused plan, and at the end that of the run. */
  readonly failure: FailureNote | null;
  readonly endedAt: number | null;
  /** Plans that were given up, and tasks without a result of a worker, when the run ended: each may still cause usage. */
  readonly openCalls: number;
  /** The run's only timer: when the clock alone changes something (null if never), and how often it was set. */
  readonly due: { readonly arm: number; readonly at: number | null };
  /** Hash of the steps so far; set by the caller that stores the step, because a pure layer has no hash. */
  readonly hash: string;
  /** Time of the last step; the clock of a run never goes back. */
  readonly last: number;
}

/** Name of a judge within its strategy, from the capability of its tasks. */
export const judgeName = (capability: string): string => capability.slice('judge.'.length);

export const isJudge = ({ spec }: Pick<TaskState, 'spec'>): boolean => spec.capability.startsWith('judge.');

export const tasksOf = (run: Pick<RunState, 'tasks'>, epoch: number): readonly (readonly [string, TaskState])[] =>
  Object.entries(run.tasks).filter(([, task]) => task.epoch === epoch);

export const tasksThatAre = (status: TaskState['status'], run: RunState): readonly (readonly [string, TaskState])[] =>
  Object.entries(run.tasks).filter(([, task]) => task.status === status);

/** Status word for lists: what the run is doing, or how it ended. */
export function statusOf(run: RunState): string {
  if (run.endedAt !== null) return run.ending?.outcome ?? 'done';
  if (run.paused) return 'paused';
  if (run.question) return 'waiting';
  if (run.awaiting) return 'planning';
  const [, open] = tasksThatAre('open', run).find(([, task]) => isJudge(task) || task.helper) ?? [];
  if (!open) return 'collecting';
  const { capability } = open.spec;
  // A text that is written before the run ends is a draft to assess.
  if (capability === 'judge.synthesis' && run.ending === null) return 'assessing';
  if (judgeStatus[capability] !== undefined) return judgeStatus[capability];
  if (open.composes) return 'composing';
  return isJudge(open) && !refining.has(capability) ? 'assessing' : 'refining';
}
const refining: ReadonlySet<string> = new Set(['judge.hints', 'judge.score']);
const judgeStatus: Readonly<Record<string, string>> = {
  'judge.gap': 'assessing',
  'judge.assess': 'assessing',
  'judge.facts': 'collecting',
  'judge.thinking': 'thinking',
  'judge.synthesis': 'composing',
  'judge.critic': 'reviewing',
};
