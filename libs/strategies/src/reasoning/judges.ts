import { denials, type TaskInputDraft } from '@conclave/contracts';
import { currentFacts, type Verdict } from '@conclave/loop';
import type { AskedJudge } from '../asks/asked-judge.js';
import { synthesisQuestion } from '../asks/questions.js';
import { asAsked } from '../prompts/as-asked.js';
import { askedText } from '../prompts/call-text.js';
import { undoneCalls } from '../undone-calls.js';
import { compressQuestion, decideQuestion, evaluateQuestion, prepareQuestion } from './asks.js';
import { offeredBy, optionsOf } from './options.js';
import { currentStep, doneOf, lastStep, mayAsk, proposing, roundOf, seenBy, stepTasks, type Own, type ReasoningView } from './own.js';
import { fromOwnKnowledge, unsourced } from '../own-knowledge.js';
import { stepLine } from './render.js';
import { meanOf, qualityOf, trendOf } from './rubric.js';
import {
  CompressOutput,
  DecideOutput,
  EvaluateOutput,
  PrepareOutput,
  type DecideInput,
  type EvaluateInput,
  type PrepareInput,
} from './values.js';

const valuesInput = (values: object): TaskInputDraft => ({ kind: 'values', values: { ...values } });

/** The values of a verdict; null if there are none. */
const valuesOf = ({ result }: Verdict): unknown => (result?.output?.kind === 'values' ? result.output.values : null);

/** The state after a phase without an answer: there was no budget for it, or its reply counts as a failure. */
const without = ({ why }: Verdict, phase: string): Pick<Own, 'invalid' | 'unaffordable'> => ({
  invalid: why !== 'budget',
  unaffordable: why === 'budget' ? phase : null,
});

const prepare: AskedJudge<Own> = {
  question: prepareQuestion,
  task: 'Prepare the input of the step',
  input: (view) => {
    const step = currentStep(view.own)!;
    const offered = offeredBy(view.template).find(({ name }) => name === step.capability);
    const { name, signature, description } = offered?.tool ?? { name: '', signature: '', description: '' };
    const tool = offered?.tool ? { name, signature, description } : null;
    const about = offered?.about ?? '';
    const done = doneOf(view, `${view.run.request.goal} ${stepLine(step)} ${about}`);
    return valuesInput({ ...seenBy(view), step, about, tool, done } satisfies PrepareInput);
  },
  take: (own, verdict) => {
    const values = valuesOf(verdict);
    if (values === null) return { ...own, doing: 'ready', unprepared: true, ...without(verdict, 'the input of the step') };
    const { working_memory, ...input } = PrepareOutput.parse(values);
    return { ...own, doing: 'run', input, ...proposing(own, 'execution', working_memory) };
  },
};

const evaluate: AskedJudge<Own> = {
  question: evaluateQuestion,
  task: 'Score the step',
  input: (view) => {
    const [, task] = lastStep(view)!;
    const text = task.result?.text ?? '';
    const { tool, capability, task: what } = task.spec;
    const step = { capability: tool ?? capability, input_description: what, reason: '' };
    return valuesInput({ ...seenBy(view), step, output: text || 'an empty result' } satisfies EvaluateInput);
  },
  take: (own, verdict, view) => {
    const values = valuesOf(verdict);
    if (values === null) return { ...own, doing: 'ready', quality: null, ...without(verdict, 'the evaluation') };
    const { rubric, summary, working_memory } = EvaluateOutput.parse(values);
    const mean = meanOf(rubric);
    const [ref, task] = lastStep(view)!;
    const durationMs = (task.result?.durationMs ?? 0) + (verdict.result?.durationMs ?? 0);
    return {
      ...own,
      doing: 'ready',
      evaluation: { ref, rubric, mean, summary, durationMs },
      untold: true,
      quality: qualityOf(mean),
      scores: [...own.scores, mean],
      ...proposing(own, 'evaluation', working_memory),
    };
  },
};

/** The state of the steps of the plan. */
function statesOf(view: ReasoningView): DecideInput['steps'] {
  const { own, run } = view;
  const failure = own.unprepared ? null : lastStep(view)?.[1].result?.failure;
  // Only a model that knows which call was refused can choose what is still allowed.
  const failed = failure && denials.has(failure.code) ? `refused: ${failure.message}` : 'failed';
  const now = own.quality ?? (run.round === null && own.unprepared ? 'no usable input' : failed);
  return (own.steps ?? []).map((step, index) => ({
    step: stepLine(step),
    state: index < own.index ? 'done' : index > own.index || own.override ? 'not run yet' : now,
  }));
}

const decide: AskedJudge<Own> = {
  question: decideQuestion,
  task: 'Decide how to go on',
  input: (view) => {
    const { own, run, template } = view;
    const options = optionsOf(template);
    return valuesInput({
      ...seenBy(view),
      steps: statesOf(view),
      round: roundOf(view),
      of: options.max_iterations,
      failures: run.failedRounds,
      trend: trendOf(own.scores),
      mayAsk: mayAsk(view),
      threshold: options.done_confidence_threshold,
    } satisfies DecideInput);
  },
  take: (own, verdict, { run, template }) => {
    const values = valuesOf(verdict);
    if (values === null) return { ...own, word: null, ...without(verdict, 'the decision') };
    const word = DecideOutput.parse(values);
    const { action, confidence, final_answer: text, working_memory } = word;
    const isConfident = confidence >= optionsOf(template).done_confidence_threshold;
    const written = action === 'done' && isConfident && text !== null;
    return {
      ...own,
      word,
      invalid: false,
      confidentAdjusts: own.confidentAdjusts + (action === 'adjust' && isConfident ? 1 : 0),
      ...(written ? { draft: { text, sources: [], insight: null, cutShort: false, epoch: run.epoch } } : {}),
      ...proposing(own, 'decision', working_memory),
    };
  },
};

const compress: AskedJudge<Own> = {
  question: compressQuestion,
  task: 'Compress the working memory',
  input: (view) => valuesInput(seenBy(view)),
  take: (own, verdict, view) => {
    const values = valuesOf(verdict);
    const text = values === null ? null : CompressOutput.parse(values).working_memory;
    return { ...own, compressed: roundOf(view), ...proposing(own, 'compression', text) };
  },
};

/** Writes the answer from what the steps found. */
const synthesis: AskedJudge<Own> = {
  question: synthesisQuestion,
  task: 'Write the answer',
  input: (view) => {
    const { run, own, template } = view;
    const { goal, conversation, system, answer } = run.request;
    return {
      kind: 'synthesis',
      question: goal,
      conversation,
      system,
      facts: [...currentFacts(run.memory)],
      answers: [],
      // Before the first plan, what was known before the run is all there is.
      thinking: own.memory || (run.plan === null && own.prior.join('\n')) || null,
      failed: stepTasks(view).flatMap(([, { spec, result }]) =>
        result?.failure && result.status !== 'cancelled'
          ? [{ capability: spec.tool ?? spec.capability, task: askedText({ ...spec, query: null }), reason: result.failure.message }]
          : [],
      ),
      ...undoneCalls(
        stepTasks(view).map(([, task], at) => ({ task, at })),
        template.tools ?? [],
      ),
      openGap: run.ending && run.ending.outcome !== 'completed' ? run.gap || null : null,
      parameters: answer,
      ...asAsked(run.request),
      ...fromOwnKnowledge(unsourced(view)),
    };
  },
  take: (own, verdict, { run }, ref) => {
    const { result } = verdict;
    if (result?.output?.kind !== 'synthesis')
      return { ...own, unwritten: verdict.why === null || verdict.why === 'budget' ? '' : (verdict.failure?.message ?? 'no reply') };
    const { text, insight, cutShort, unsupported } = result.output;
    const draft = { text, sources: result.sources, insight, cutShort, epoch: run.tasks[ref]!.epoch };
    return { ...own, draft: { ...draft, ...(unsupported?.length ? { unsupported } : {}) } };
  },
};

export const judges = { prepare, evaluate, decide, compress, synthesis };
