import { promptMarks as marks, type TaskInput, type TaskOutput } from '@conclave/contracts';
import * as z from 'zod';
import type { Ask, ParsedReply, Room } from '../asks/ask.js';
import type { AnyQuestion } from '../asks/asked-judge.js';
import { faultsOf, jsonForm } from '../asks/json-form.js';
import { inputOf, outputOf } from '../asks/task-schemas.js';
import { capabilityOf } from '../capabilities/declared.js';
import { fitted, type Cut } from '../prompts/fitting.js';
import { asData, bounded, oneLine, type PromptMessage } from '../prompts/quoting.js';
import { unfilledOf } from '../unfilled.js';
import { doneText, phase, stepLine } from './render.js';
import { readCompressed, readDecision, readPrepared, readRubric } from './replies.js';
import {
  CompressInput,
  CompressOutput,
  DecideInput,
  DecideOutput,
  EvaluateInput,
  EvaluateOutput,
  PrepareInput,
  PrepareOutput,
  type Prepared,
  type ReasoningStep,
} from './values.js';

type Values = Extract<TaskInput, { kind: 'values' }>;
type Said = Extract<TaskOutput, { kind: 'values' }>;

/** Characters of a step's output that its evaluation sees. */
const shownOutput = 3_000;
/** Characters of one earlier result that the input of a step is prepared from, and of all together. */
const resultLength = 2_000;
const resultsLength = 16_000;

interface PhaseAsk<In, Out> {
  readonly name: string;
  readonly input: z.ZodType<In>;
  readonly output: z.ZodType<Out>;
  readonly reAsks: 0 | 2;
  /** Schema of the reply, for servers that accept one. */
  readonly form: z.ZodType;
  prompt(input: In, cut: Cut, room: Room): readonly PromptMessage[];
  read(text: string, input: In): ParsedReply<Out>;
  /** One line about what the phase does, and one about its result. */
  asks(input: In): string;
  says(output: Out): string;
}

/** The question of a phase. Its input and output are sent as plain values and checked on both sides. */
function phaseQuestion<In, Out extends Record<string, unknown>>(of: PhaseAsk<In, Out>): AnyQuestion {
  const form = jsonForm(of.name.replace('.', '_'), of.form);
  const ask: Ask<Values, Said> = {
    name: of.name,
    input: inputOf('values'),
    output: outputOf('values'),
    reAsks: of.reAsks,
    call: { temperature: 0, json: () => form },
    prompt: ({ values }, room) => fitted([], room.tokens, (cut) => of.prompt(of.input.parse(values), cut, room)),
    read: ({ text }, { values }) => {
      const read = of.read(text, of.input.parse(values));
      if ('faults' in read) return read;
      const checked = of.output.safeParse(read.output);
      return checked.success ? { output: { kind: 'values', values: { ...checked.data } } } : { faults: faultsOf(checked.error) };
    },
  };
  return {
    ask,
    unreadable: null,
    lines: {
      codes: { prompt: 'reasoning.prompt', response: 'reasoning.result' },
      asks: ({ values }: Values) => of.asks(of.input.parse(values)),
      says: ({ values }: Said) => of.says(of.output.parse(values)),
    },
  } as unknown as AnyQuestion;
}

const memory = { working_memory: z.string() };

/** Faults of a step's input by the rules of its capability. */
function inputFaults(step: ReasoningStep, { query, tool, args }: Prepared, offered: PrepareInput['tool']): readonly string[] {
  const isTool = offered !== null;
  const task = {
    id: 'step',
    capability: isTool ? 'mcp' : step.capability,
    task: step.input_description,
    query,
    needs: [],
    metadata_filters: null,
  };
  return (
    capabilityOf(task.capability)?.faults?.({ ...task, ...(tool === null ? {} : { tool }), args }, { tools: offered ? [offered] : [] }) ??
    []
  );
}

/** A value that is missing in the arguments of a tool would be sent as the words that stand for it. */
function unfilledFaults({ args }: Prepared, tool: string, done: PrepareInput['done']): readonly string[] {
  const named = done.map(({ step }) => step.slice(0, Math.max(0, step.indexOf(':'))));
  const unfilled = unfilledOf({ args }, new Set(), [tool, ...named]);
  if (!unfilled) return [];
  const said = JSON.stringify(bounded(oneLine(unfilled.said), 120));
  return [`In "${unfilled.name}", ${said} stands for a value that is not filled in. Write the value itself, as the results show it.`];
}

/** Turns a step into the concrete input of its capability. */
export const prepareQuestion = phaseQuestion({
  name: 'reasoning.execution',
  input: PrepareInput,
  output: PrepareOutput,
  reAsks: 2,
  form: z.object({ input: z.union([z.string(), z.looseObject({})]), ...memory }),
  prompt: (input, cut, { prompts }) =>
    phase(
      { role: marks.roles.preparer, prompt: 'reasoning.execution', overrides: prompts },
      input,
      `${marks.step}\n${stepLine(input.step)}\nWhy: ${bounded(input.step.reason, 300)}`,
      `What \`${input.step.capability}\` takes: ${input.about}`,
      doneText(input.done, Math.round(cut.scale * Math.min(resultLength, resultsLength / input.done.length))),
    ),
  read: (text, { step, tool, done }) => {
    const takesArguments = tool !== null || (capabilityOf(step.capability)?.takesArguments ?? false);
    const read = readPrepared(text, { capability: step.capability, takesArguments, ...(tool ? { signature: tool.signature } : {}) });
    if ('faults' in read) return read;
    const faults = [...inputFaults(step, read.output, tool), ...(tool ? unfilledFaults(read.output, tool.name, done) : [])];
    return faults.length > 0 ? { faults } : read;
  },
  asks: ({ step }) => `Prepares the step: ${stepLine(step)}`,
  says: ({ query, args }) => `The input is: ${bounded(query ?? JSON.stringify(args), 200)}`,
});

const scoreOf = z.number();
/** Scores the output of a step by four criteria. */
export const evaluateQuestion = phaseQuestion({
  name: 'reasoning.evaluation',
  input: EvaluateInput,
  output: EvaluateOutput,
  reAsks: 2,
  form: z.object({ relevance: scoreOf, completeness: scoreOf, usability: scoreOf, goal_progress: scoreOf, summary: z.string(), ...memory }),
  prompt: (input, cut, { prompts }) =>
    phase(
      { role: marks.roles.rater, prompt: 'reasoning.evaluation', overrides: prompts },
      input,
      `${marks.step}\n${stepLine(input.step)}`,
      `${marks.output}\n${asData(bounded(input.output, Math.round(shownOutput * cut.scale)))}`,
    ),
  read: readRubric,
  asks: ({ step }) => `Scores the step: ${stepLine(step)}`,
  says: ({ summary }) => summary || 'The step is scored',
});

/** Decides if no rule of the table does. */
export const decideQuestion = phaseQuestion({
  name: 'reasoning.decision',
  input: DecideInput,
  output: DecideOutput,
  reAsks: 2,
  form: z.object({
    action: z.enum(['continue', 'adjust', 'ask_user', 'done', 'stuck']),
    confidence: z.number(),
    reason: z.string(),
    question: z.string().nullable(),
    final_answer: z.string().nullable(),
    ...memory,
  }),
  prompt: (input, _cut, { prompts }) =>
    phase(
      { role: marks.roles.decider, prompt: 'reasoning.decision', overrides: prompts },
      input,
      `Steps of the plan:\n${asData(input.steps.map(({ step, state }, index) => `${index + 1}. ${step} (${state})`).join('\n') || 'none')}`,
      [
        `Round ${input.round} of at most ${input.of}; failed rounds in a row: ${input.failures}.`,
        input.trend === null
          ? null
          : `The scores of the last steps are ${input.trend}.${input.trend === 'DEGRADING' ? ' Consider "adjust".' : ''}`,
        `"done" counts from a confidence of ${input.threshold}.`,
        input.mayAsk ? null : 'Nobody can be asked: "ask_user" is not possible.',
      ]
        .filter((line) => line !== null)
        .join('\n'),
    ),
  read: (text, { mayAsk }) => readDecision(text, mayAsk),
  asks: ({ round, of }) => `Decides how to continue (round ${round} of at most ${of})`,
  says: ({ action, confidence, reason }) => `Decision: ${action} (confidence ${confidence}). ${reason}`,
});

/** Rewrites the working memory to what is essential. Asked once: if it fails, the memory stays. */
export const compressQuestion = phaseQuestion({
  name: 'reasoning.compression',
  input: CompressInput,
  output: CompressOutput,
  reAsks: 0,
  form: z.object(memory),
  prompt: (input, _cut, { prompts }) => phase({ role: marks.roles.compressor, prompt: 'reasoning.compression', overrides: prompts }, input),
  read: readCompressed,
  asks: ({ memory: text }) => `Compresses the working memory (${text.length} characters)`,
  says: ({ working_memory }) => `The working memory has ${working_memory.length} characters now`,
});
