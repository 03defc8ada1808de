import { Failure, type TaskInput, type TaskOutput } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask, ParsedReply, Said } from '../asks/ask.js';
import type { AnyQuestion, JudgeQuestion, PlanAsked, PlanSaid } from '../asks/asked-judge.js';
import { inputOf, outputOf } from '../asks/task-schemas.js';
import { jsonIn } from '../replies/json-reply.js';
import type { PromptMessage } from '../prompts/quoting.js';
import { blame } from './blame.js';
import { callsOfModule } from './bounded.js';
import { jsonFault, kindOf } from './json-values.js';
import { unknownMembers } from './members.js';
import { WrittenTask } from './moves.js';

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

/** Throws CONFIGURATION_INVALID for a description without its functions, or with members that do not exist. */
function checked(what: string, description: QuestionDescription<never, never>): void {
  const { name, prompt, read, reAsks = 1, temperature = 0 } = description as unknown as Record<string, unknown>;
  const faults = unknownMembers(description, ['name', 'prompt', 'read', 'reAsks', 'temperature']);
  if (typeof name !== 'string' || name === '') faults.push('has no `name`');
  if (typeof prompt !== 'function') faults.push('has no function `prompt`');
  if (typeof read !== 'function') faults.push('has no function `read`');
  if (![0, 1, 2].includes(reAsks as number)) faults.push('has `reAsks` that is not 0, 1 or 2');
  if (typeof temperature !== 'number') faults.push('has a `temperature` that is not a number');
  if (faults.length > 0) throw new Failure('CONFIGURATION_INVALID', `The ${what} ${JSON.stringify(name ?? '')} ${faults.join('; it ')}.`);
}

const Messages = z.array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })).min(1);

/** The messages that a prompt returns. Throws STRATEGY_FAILED if there are none, because a repeat would fail the same way. */
function messagesOf(what: string, prompt: () => unknown): readonly PromptMessage[] {
  let given: unknown;
  try {
    given = prompt();
  } catch (error) {
    throw new Failure('STRATEGY_FAILED', `The ${what} failed in \`prompt\`: ${blame(error)}`, { cause: error });
  }
  const read = Messages.safeParse(given);
  if (read.success) return given as readonly PromptMessage[];
  const wants = 'a list of { role: "system" | "user" | "assistant", content: text }';
  throw new Failure('STRATEGY_FAILED', `The ${what} failed in \`prompt\`: It returned ${kindOf(given)} that is not ${wants}.`);
}

/** The reading that a reader returns. An exception or any other value counts as a fault of the reply: another reply may be readable. */
function readingOf<Out>(what: string, read: () => ParsedReply<Out>): ParsedReply<Out> {
  let given: unknown;
  try {
    given = read();
  } catch (error) {
    return { faults: [`The ${what} failed in \`read\`: ${blame(error)}`] };
  }
  const { output, faults } = (given ?? {}) as { output?: unknown; faults?: unknown };
  if (Array.isArray(faults) && faults.length > 0) return { faults: faults.map(String) };
  if (typeof output !== 'object' || output === null)
    return {
      faults: [
        `The ${what} failed in \`read\`: It returned ${kindOf(given)} with neither an \`output\` that is an object nor a list \`faults\`.`,
      ],
    };
  const fault = jsonFault(output, 'output');
  return fault ? { faults: [`The ${what} failed in \`read\`: The output has to be JSON, but ${fault}.`] } : { output: output as Out };
}

const call = ({ temperature }: { readonly temperature?: number }): { call?: { temperature: number } } =>
  temperature === undefined ? {} : { call: { temperature } };

/** A judge's question with plain values as input and output. */
export function describeQuestion<In extends object = Values, Out extends object = Values>(
  description: QuestionDescription<In, Out>,
): AnyQuestion {
  checked('question', description as unknown as QuestionDescription<never, never>);
  const { name, prompt, read, reAsks = 1, ...more } = description;
  const what = `question "${name}"`;
  const { call: bounded } = callsOfModule();
  const ask: Ask<Extract<TaskInput, { kind: 'values' }>, Extract<TaskOutput, { kind: 'values' }>> = {
    name,
    input: inputOf('values'),
    output: outputOf('values'),
    prompt: ({ values }) => messagesOf(what, () => bounded(`prompt of the ${what}`, () => prompt(values as In))),
    read: (said, { values }) => {
      const reading = readingOf(what, () => bounded(`read of the ${what}`, () => read({ ...said, json: jsonIn(said.text) }, values as In)));
      return 'faults' in reading ? reading : { output: { kind: 'values', values: reading.output as Values } };
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

/** What an extension reads from the reply of a planner. */
const PlanRead = z.strictObject({ tasks: z.array(WrittenTask), content: z.record(z.string(), z.unknown()).default({}) });

/** A strategy's own ask for plans. The prompt gets the request and the `asked` of `planner.ask`. */
export const describePlanAsk = (description: QuestionDescription<PlanAsked, z.input<typeof PlanRead>>): Ask<PlanAsked, PlanSaid> => {
  checked('planAsk', description as unknown as QuestionDescription<never, never>);
  const { name, prompt, read, reAsks = 2, ...more } = description;
  const what = `planAsk "${name}"`;
  const { call: bounded } = callsOfModule();
  return {
    name,
    // Not checked: it comes from the engine.
    input: z.custom<PlanAsked>(),
    output: PlanRead as unknown as z.ZodType<PlanSaid>,
    prompt: (input) => messagesOf(what, () => bounded(`prompt of the ${what}`, () => prompt(input))),
    read: (said, input) => {
      const reading = readingOf(what, () => bounded(`read of the ${what}`, () => read({ ...said, json: jsonIn(said.text) }, input)));
      return reading as ParsedReply<PlanSaid>;
    },
    reAsks,
    ...call(more),
  };
};
