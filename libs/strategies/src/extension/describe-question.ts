import { PlannedTask, type TaskInput, type TaskOutput } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask, ParsedReply, Said } from '../asks/ask.js';
import type { AnyQuestion, JudgeQuestion, PlanAsked, PlanSaid } from '../asks/asked-judge.js';
import { inputOf, outputOf } from '../asks/task-schemas.js';
import { jsonIn } from '../replies/json-reply.js';
import type { PromptMessage } from '../prompts/quoting.js';

type Values = Record<string, unknown>;

/** How an extension asks a model. */
export interface QuestionDescription<In, Out> {
  /** Name of the calls in the run's record. */
  readonly name: string;
  prompt(input: In): readonly PromptMessage[];
  /** The output of the reply, or sentences shown to the model when it is asked again. `json` is the first JSON value in the reply. */
  read(said: Said & { readonly json: unknown }, input: In): ParsedReply<Out>;
  readonly reAsks?: 0 | 1 | 2;
  readonly temperature?: number;
}

const call = ({ temperature }: { readonly temperature?: number }): { call?: { temperature: number } } =>
  temperature === undefined ? {} : { call: { temperature } };

/** A judge's question with plain values as input and output. */
export function describeQuestion({ name, prompt, read, reAsks = 1, ...more }: QuestionDescription<Values, Values>): AnyQuestion {
  const ask: Ask<Extract<TaskInput, { kind: 'values' }>, Extract<TaskOutput, { kind: 'values' }>> = {
    name,
    input: inputOf('values'),
    output: outputOf('values'),
    prompt: ({ values }) => prompt(values),
    read: (said, { values }) => {
      const reading = read({ ...said, json: jsonIn(said.text) }, values);
      return 'faults' in reading ? reading : { output: { kind: 'values', values: reading.output } };
    },
    reAsks,
    ...call(more),
  };
  const question: JudgeQuestion<Extract<TaskInput, { kind: 'values' }>, Extract<TaskOutput, { kind: 'values' }>> = {
    ask,
    unreadable: null,
  };
  return question as unknown as AnyQuestion;
}

/** A strategy's own ask for plans. The prompt gets the request and the `asked` of `planner.ask`. */
export const describePlanAsk = ({
  name,
  prompt,
  read,
  reAsks = 2,
  ...more
}: QuestionDescription<PlanAsked, PlanSaid>): Ask<PlanAsked, PlanSaid> => ({
  name,
  // Not checked: it comes from the engine.
  input: z.custom<PlanAsked>(),
  output: z.object({ tasks: z.array(PlannedTask), content: z.record(z.string(), z.unknown()) }),
  prompt: (input) => prompt(input),
  read: (said, input) => read({ ...said, json: jsonIn(said.text) }, input),
  reAsks,
  ...call(more),
});
