import { PlannedTask, type TaskInput, type TaskOutput } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask, Reading, Said } from '../asks/ask.js';
import type { AnyQuestion, JudgeQuestion, PlanAsked, PlanSaid } from '../asks/asked-judge.js';
import { inputOf, outputOf } from '../asks/task-schemas.js';
import { jsonIn } from '../replies/json-reply.js';
import type { PromptMessage } from '../prompts/quoting.js';

type Values = Record<string, unknown>;

/** How an extension asks a model. */
export interface QuestionDescription<In, Out> {
  /** What the calls are called in the record of the run. */
  readonly name: string;
  prompt(input: In): readonly PromptMessage[];
  /** What the reply says, or sentences that the model is shown when it is asked again. `json` is the first JSON value in it. */
  read(said: Said & { readonly json: unknown }, input: In): Reading<Out>;
  readonly reAsks?: 0 | 1 | 2;
  readonly temperature?: number;
}

const call = ({ temperature }: { readonly temperature?: number }): { call?: { temperature: number } } =>
  temperature === undefined ? {} : { call: { temperature } };

/** A question of a judge: it works on the values that its `input` gives, and says values. */
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

/** How a strategy asks for its plans by itself. What `planner.ask` gives as `asked` stands beside the request. */
export const describePlanAsk = ({
  name,
  prompt,
  read,
  reAsks = 2,
  ...more
}: QuestionDescription<PlanAsked, PlanSaid>): Ask<PlanAsked, PlanSaid> => ({
  name,
  // The engine made it.
  input: z.custom<PlanAsked>(),
  output: z.object({ tasks: z.array(PlannedTask), content: z.record(z.string(), z.unknown()) }),
  prompt: (input) => prompt(input),
  read: (said, input) => read({ ...said, json: jsonIn(said.text) }, input),
  reAsks,
  ...call(more),
});
