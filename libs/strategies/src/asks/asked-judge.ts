import type { GapDetected, PlannedTask, PlanRequested, ResultReady, TaskOutput, ThoughtCode } from '@conclave/contracts';
import type { Judge, Strategy } from '@conclave/loop';
import type * as z from 'zod';
import type { Ask } from './ask.js';

/** What a judge tells people while it works. */
interface Lines<In, Out> {
  readonly codes: { readonly prompt: ThoughtCode; readonly response: ThoughtCode };
  /** What it sets out to do. */
  asks(input: In): string;
  /** What came of it. */
  says(output: Out, input: In): string;
}

/** The question that a judge puts to a model, and what its reply amounts to. */
export interface JudgeQuestion<In, Out extends TaskOutput> {
  readonly ask: Ask<In, Out>;
  /** What a reply that cannot be used amounts to; null where it is an empty answer, an error. */
  readonly unreadable: Out | null;
  readonly lines?: Lines<In, Out>;
  /** Absent where the output of the ask is that of the task. */
  result?(output: Out): Pick<ResultReady['data'], 'status' | 'output'> & Partial<ResultReady['data']>;
}

/** A judge whose question does not say what it works on: whoever performs it parses its input first. */
export type AnyQuestion = JudgeQuestion<unknown, TaskOutput>;

/** A judge of a strategy, with the question that it asks. */
export interface AskedJudge<Own> extends Judge<Own> {
  readonly question: AnyQuestion;
}

/** What the planner of a strategy works on: the request, and what the engine has made of its run. */
export interface PlanAsked {
  readonly request: PlanRequested['data'];
  readonly asked: NonNullable<GapDetected['data']['asked']>;
}

/** What a planner's reply says: tasks, and what the strategy reads beside them. */
export interface PlanSaid {
  readonly tasks: readonly PlannedTask[];
  readonly content: Readonly<Record<string, unknown>>;
}

/** A strategy with everything it asks of models. */
export interface AskingStrategy<Own = unknown> extends Strategy<Own> {
  /** Its section of a template. Every option has a default. */
  readonly options: z.ZodType<Record<string, unknown>>;
  /** It plans calls of tools by itself: it gets all that are offered, whatever capabilities its template names. */
  readonly callsTools?: boolean;
  /** Nobody in its runs reads images and files: questions that bring some are refused. */
  readonly readsNoAttachments?: boolean;
  /** How its plans are asked for; absent where the committee's planner makes them. */
  readonly planAsk?: Ask<PlanAsked, PlanSaid>;
  readonly judges: Readonly<Record<string, AskedJudge<Own>>>;
}
