import type {
  CapabilityPolicies,
  GapDetected,
  PlannedTask,
  PlanRequested,
  ResultReady,
  RunLimits,
  TaskOutput,
  ThoughtCode,
} from '@conclave/contracts';
import type { Judge, Strategy } from '@conclave/loop';
import type * as z from 'zod';
import type { Ask } from './ask.js';

/** Progress lines of a judge. */
interface Lines<In, Out> {
  readonly codes: { readonly prompt: ThoughtCode; readonly response: ThoughtCode };
  /** Line before the call. */
  asks(input: In): string;
  /** Line with the result. */
  says(output: Out, input: In): string;
}

/** A judge's question to a model, and how its reply becomes a result. */
export interface JudgeQuestion<In, Out extends TaskOutput> {
  readonly ask: Ask<In, Out>;
  /** Output for an unusable reply; null if that is an error (an empty answer). */
  readonly unreadable: Out | null;
  readonly lines?: Lines<In, Out>;
  /** Absent if the output of the ask is that of the task. */
  result?(output: Out): Pick<ResultReady['data'], 'status' | 'output'> & Partial<ResultReady['data']>;
}

/** A judge's question without the type of its input; the caller parses the input first. */
export type AnyQuestion = JudgeQuestion<unknown, TaskOutput>;

/** A judge of a strategy with its question. */
export interface AskedJudge<Own> extends Judge<Own> {
  readonly question: AnyQuestion;
}

/** Input of a strategy's planner: the request and the state of its run. */
export interface PlanAsked {
  readonly request: PlanRequested['data'];
  readonly asked: NonNullable<GapDetected['data']['asked']>;
}

/** Output of a planner: tasks, and further content for the strategy. */
export interface PlanSaid {
  readonly tasks: readonly PlannedTask[];
  readonly content: Readonly<Record<string, unknown>>;
}

/** A value that a plan takes from the result of an earlier task. */
export interface TakenValue {
  /** The words in the plan that stand for it. */
  readonly said: string;
  /** The task, as its epoch and its id in the plan. */
  readonly task: { readonly epoch: number; readonly id: string };
  /** Its result as far as the run knows it, and whether this is the whole. */
  readonly known: string;
  readonly isWhole: boolean;
  /** The value in the text of a result; undefined without one. */
  readonly of: (text: string) => unknown;
}

/** A strategy with everything it asks of models. */
export interface AskingStrategy<Own = unknown> extends Strategy<Own> {
  /** Version of the extension module that contains it; absent for strategies of the product. */
  readonly version?: string;
  /** Schema of its section of a template. Every option has a default. */
  readonly options: z.ZodType<Record<string, unknown>>;
  /** Settings that its options imply for the template itself, such as its models and limits. */
  means?(options: Record<string, unknown>): {
    readonly offered?: boolean;
    readonly models?: readonly string[];
    readonly limits?: Partial<RunLimits>;
    readonly prompts?: Readonly<Record<string, string>>;
    readonly policies?: CapabilityPolicies;
    /** Tools that the options name; they may be called even if they change something. */
    readonly tools?: readonly string[];
  };
  /** Whether the strategy plans tool calls itself: it then gets all offered tools, whatever capabilities its template names. */
  readonly callsTools?: boolean;
  /** Whether its runs cannot read images and files: questions with attachments are then refused. */
  readonly readsNoAttachments?: boolean;
  /** Webhooks that are called at the end of its runs, from its options. */
  delivers?(options: Readonly<Record<string, unknown>>): readonly string[];
  /** Names of the templates whose runs its runs may start, from its options. */
  startsRuns?(options: Readonly<Record<string, unknown>>): readonly string[];
  /** The ask for its plans; absent if the committee's planner makes them. */
  readonly planAsk?: Ask<PlanAsked, PlanSaid>;
  /** The values that its plans take from earlier results, and a plan with them. Absent if its plans name every value themselves. */
  readonly planTakes?: {
    values(said: PlanSaid, asked: PlanAsked): readonly TakenValue[];
    filled(said: PlanSaid, values: ReadonlyMap<string, unknown>): PlanSaid;
  };
  readonly judges: Readonly<Record<string, AskedJudge<Own>>>;
}
