import { ReasoningOptions, type Draft, type RequestedTask } from '@conclave/contracts';
import { currentFacts, type Command, type Move, unwrittenReason } from '@conclave/loop';
import type { AnswerWords } from '../answer-words/answer-words.js';
import { answerWords } from '../answer-words/languages.js';
import type { AskingStrategy } from '../asks/asked-judge.js';
import { inputOfTask } from '../capabilities/declared.js';
import { callAction } from '../call-action.js';
import { actionOf } from '../plan-rules.js';
import { bounded, oneLine } from '../prompts/quoting.js';
import { jsonIn } from '../replies/json-reply.js';
import { numbered } from '../replies/citations.js';
import { isObject } from '../replies/names.js';
import { judges } from './judges.js';
import { offeredBy, optionsOf } from './options.js';
import {
  currentStep,
  doneOf,
  fresh,
  initialOwn,
  lastStep,
  proposing,
  roundOf,
  seenBy,
  stepsAhead,
  stepTasks,
  type Own,
  type ReasoningView,
} from './own.js';
import { reasoningPlanAsk } from './plan-ask.js';
import { priorInput, priorLines, priorTasks } from './prior.js';
import { readingOf } from './reading.js';
import { stepLine } from './render.js';
import { stepFaults } from './replies.js';
import { qualityOf } from './rubric.js';
import { unsourced } from '../own-knowledge.js';
import { longestMemory, PlanContent, type PlanInput, type Prepared } from './values.js';

/** Rounds without a new fact after which another plan is made. */
const stalledRounds = 2;
/** Model calls that a run needs after its plan: the input of a step, and the answer. */
const keeps = 2;
/** Seconds of wall time: for planning and the answer, and for each step. */
const planningS = 120;
const perStepS = 300;
/** Characters of a step's result that later runs can recall. */
const longestResult = 2_000;
/** Characters from which a working memory is worth compressing. */
const worthCompressing = 500;

/** Tokens of a call with a full working memory and results: its prompt, and with its reply. */
const promptTokensPerCall = 4_000;
const tokensPerCall = 5_000;

/** Token limits that suffice for every call: the default limits are meant for runs with fewer calls. */
const tokensOf = (calls: number) => ({ prompt_tokens: calls * promptTokensPerCall, tokens: calls * tokensPerCall });

/** The current step as a task of the engine. */
function requestedTask({ own, template }: ReasoningView): RequestedTask {
  const step = currentStep(own)!;
  const { query, tool, args } = own.input!;
  const offered = offeredBy(template).find(({ name }) => name === step.capability);
  const spec = {
    id: `s${own.ran + 1}`,
    capability: offered?.tool ? 'mcp' : step.capability,
    task: step.input_description,
    query,
    needs: [],
    ...(tool === null ? {} : { tool }),
    ...(Object.keys(args).length > 0 ? { args } : {}),
    metadata_filters: null,
  };
  return {
    spec,
    // A user's own step is never a repeat.
    action: own.override ? null : offered?.tool ? callAction(spec, [offered.tool]) : actionOf(spec, []),
    models: [],
    learn: 'settled',
    stream: 'held',
    timeoutS: optionsOf(template).step_timeout_seconds,
  };
}

/** Input of the planner. */
function askedOf(view: ReasoningView, forbidTried: boolean): PlanInput {
  const { own, template } = view;
  return {
    ...seenBy(view),
    offered: offeredBy(template).map(({ name, about }) => ({ name, about })),
    prior: [...own.prior],
    done: doneOf(view, view.run.request.goal),
    reason: own.reason,
    forbidden: forbidTried ? triedOf(view) : [],
    maxSteps: optionsOf(template).max_plan_steps,
  };
}

/** The actions that were tried, each as its call was written: two calls of the same sense are compared in another form. */
const triedOf = (view: ReasoningView): string[] =>
  stepTasks(view).flatMap(([, { spec, action, result }]) =>
    action === null || result === null || result.status === 'repeated'
      ? []
      : [bounded(`${action.capability}: ${actionOf(spec, []).argument}`, 300)],
  );

/** The phase that follows when nothing is open. */
function nextPhase(view: ReasoningView): readonly Move[] {
  const { own, template } = view;
  if (own.doing === 'prior') {
    const tasks = priorTasks(view);
    return [{ do: 'note', data: { doing: 'prepare' } }, ...(tasks.length > 0 ? [{ do: 'dispatch', tasks, helper: true } as const] : [])];
  }
  if (own.impossible !== null)
    return [{ do: 'decide', reading: { by: 'planner', sufficient: false, model: 'stuck', open: own.impossible } }];
  if (own.steps === null && own.override === null) return [{ do: 'plan' }];
  if (own.doing === 'prepare') return [{ do: 'judge', name: 'prepare' }];
  if (own.doing === 'run')
    return [
      { do: 'note', data: { doing: 'evaluate', ran: own.ran + 1, quality: null } },
      { do: 'dispatch', tasks: [requestedTask(view)] },
    ];
  if (own.doing === 'evaluate')
    return lastStep(view)?.[1].result?.status === 'ok' ? [{ do: 'judge', name: 'evaluate' }] : [{ do: 'note', data: { doing: 'ready' } }];
  const round = roundOf(view);
  const isDue = round > 0 && round % optionsOf(template).compress_every === 0 && own.compressed !== round;
  if (isDue && own.word === null && own.memory.length > worthCompressing && own.unaffordable === null)
    return [{ do: 'judge', name: 'compress' }];
  return [{ do: 'decide', reading: readingOf(view) }];
}

/** Records what a reply or an evaluation has changed, before anything else follows. */
function recorded({ own }: ReasoningView): readonly Move[] {
  const { proposed, evaluation, untold } = own;
  if (proposed !== null) {
    const { by, text } = proposed;
    if (by === 'compression') return [{ do: 'record', fact: { kind: 'MemoryCompressed', text, before: own.memory.length } }];
    return [{ do: 'record', fact: { kind: 'MemoryReplaced', by, text } }];
  }
  if (evaluation === null || !untold) return [];
  const { ref, rubric, mean, summary, durationMs } = evaluation;
  const confidence = (mean - 1) / 4;
  return [{ do: 'record', fact: { kind: 'StepEvaluated', ref, rubric, mean, quality: qualityOf(mean), confidence, summary, durationMs } }];
}

/**
 * Reads a step that the user gave, with its input unchanged: words, or the arguments of a tool as JSON. Returns a sentence if it may not
 * run.
 */
function overrideOf(
  view: ReasoningView,
  { skill, input }: Extract<Command, { name: 'override_step' }>,
): Pick<Own, 'override' | 'input'> | string {
  const offered = offeredBy(view.template);
  const found = offered.find(({ name }) => name === skill);
  if (!found) return `"${bounded(oneLine(skill), 60)}" is not allowed here. Use one of: ${offered.map(({ name }) => name).join(', ')}.`;
  const override = { capability: skill, input_description: input, reason: 'The user wants it.' };
  const args = jsonIn(input);
  if (found.tool && !isObject(args)) return `The input of ${skill} must be a JSON object with its arguments.`;
  const words: Prepared = { query: input, tool: null, args: {} };
  return { override, input: found.tool && isObject(args) ? { query: null, tool: skill, args } : words };
}

/** Without a fact, the working memory is what the model itself makes of the question; null if it is empty, too. */
function fromMemory({ own: { memory, unwritten }, run }: ReasoningView, words: AnswerWords, reason: string): Draft | null {
  if (memory.trim() === '') return null;
  const text = `${memory.trim()}\n\n${words.unconfirmed} ${words.whyStopped} ${unwritten ? unwrittenReason(reason, unwritten) : reason}`;
  return { text, sources: [], insight: null, cutShort: false, epoch: run.epoch, unwritten: unwritten ?? '' };
}

/** The answer without a model: what was found, and why the run stopped. */
function lastAnswer(view: ReasoningView, reason: string): Draft | null {
  const { own, run } = view;
  if (own.draft) return own.draft;
  const facts = currentFacts(run.memory).slice(-10);
  const words = answerWords(run.request.language);
  if (facts.length === 0) return fromMemory(view, words, reason);
  const lines = facts.map(({ text }, index) => `- ${bounded(oneLine(text), 400)} [${index + 1}]`);
  const { sources, list } = numbered(facts, words);
  const why = own.unwritten ? unwrittenReason(reason, own.unwritten) : reason;
  const text = [`${words.found}\n${lines.join('\n')}`, `${words.whyStopped} ${why}`, list].join('\n\n');
  return { text, sources, insight: null, cutShort: false, epoch: run.epoch, unwritten: own.unwritten ?? '' };
}

/**
 * Goal, held plan, one capability at a time: each step is prepared by a model, run, scored, and followed by a decision of the table.
 * Users steer it while it runs.
 */
export const reasoning: AskingStrategy<Own> = {
  id: 'reasoning',
  roundName: 'step',
  commands: ['cancel', 'pause', 'resume', 'steer', 'add_context', 'override_step', 'answer'],
  options: ReasoningOptions,
  means: (given) => {
    const {
      enabled,
      llm_tier,
      tiers,
      prompts,
      policies,
      max_iterations,
      max_llm_calls,
      capability_whitelist: tools,
    } = ReasoningOptions.parse(given);
    const models = tiers[llm_tier];
    const texts = Object.entries(prompts).filter(([, text]) => text.trim() !== '');
    return {
      offered: enabled,
      ...(models ? { models } : {}),
      limits: { ...tokensOf(max_llm_calls), model_calls: max_llm_calls, wall_time_s: planningS + perStepS * max_iterations },
      prompts: Object.fromEntries(texts.map(([name, text]) => [`reasoning.${name}`, text])),
      policies,
      tools,
    };
  },
  delivers: (given) => ReasoningOptions.parse(given).default_delivery.filter((name) => name !== 'memory'),
  callsTools: true,
  readsNoAttachments: true,
  limits: (view) => {
    const options = optionsOf(view.template);
    const isCircling = (view.own?.confidentAdjusts ?? 0) >= options.max_adjusts_at_confidence;
    return {
      rounds: options.max_iterations,
      // A change of plan is followed by a round or a failure, so rounds bound it.
      adjusts: isCircling ? 0 : options.max_iterations,
      stuck: options.stuck_threshold,
      // A question to the user counts as progress.
      stall: view.own?.word?.action === 'ask_user' ? null : stalledRounds,
      end: 'limit_reached',
      threshold: options.done_confidence_threshold,
      asks: view.own !== null,
    };
  },
  wallTimeS: ({ own }) => planningS + perStepS * (own.before + Math.max(1, own.steps?.length ?? 1)),
  planAsk: reasoningPlanAsk,
  planner: {
    keeps,
    ask: (view, { forbidTried }) => ({ asked: askedOf(view, forbidTried) }),
    faults: ({ template }, { content }) => {
      const read = PlanContent.safeParse(content);
      if (!read.success) return ['The plan has no steps.'];
      if (read.data.impossible !== null) return [];
      const names = offeredBy(template).map(({ name }) => name);
      return stepFaults(read.data.steps, names, optionsOf(template).max_plan_steps);
    },
  },
  judges,
  initial: () => initialOwn,
  evolve: (own, fact, view) => {
    switch (fact.kind) {
      case 'Noted':
        return fact.data ? { ...own, ...fact.data } : own;
      case 'MemoryReplaced':
      case 'MemoryCompressed':
        return { ...own, memory: fact.text.slice(0, longestMemory), proposed: null };
      case 'StepEvaluated':
        return { ...own, untold: false };
      case 'PlanTaken': {
        const { steps, impossible, working_memory } = PlanContent.parse(fact.plan.content);
        const planned = { steps, impossible, index: 0, before: own.ran, reason: null, ...proposing(own, 'planning', working_memory) };
        // A step of the user that waits for the plan stays the next one.
        return own.override ? { ...own, ...planned } : { ...own, ...fresh, ...planned };
      }
      default: {
        const lines = priorLines(view, fact);
        return lines.length > 0 ? { ...own, prior: [...own.prior, ...lines] } : own;
      }
    }
  },
  task: (view, _ref, task) =>
    task.helper ? priorInput(view, task) : inputOfTask({ run: view.run, template: view.template, task, filters: {} }),
  announces: ({ content }) => {
    const read = PlanContent.safeParse(content);
    if (!read.success) return undefined;
    return read.data.impossible ?? read.data.steps.map((step, index) => `${index + 1}. ${stepLine(step)}`).join('; ');
  },
  onPlan: () => [],
  next: (view): readonly Move[] => {
    const { own, run } = view;
    if (run.ending) {
      if (own.draft) return [{ do: 'say', draft: own.draft }];
      // Without a fact, the working memory may hold the answer all the same.
      const knows = run.memory.facts.length > 0 || own.memory.trim() !== '';
      // A goal that the planner calls out of reach ends at once.
      const mayWrite = own.unwritten === null && (knows || (own.impossible === null && unsourced(view) !== null));
      return mayWrite ? [{ do: 'judge', name: 'synthesis', from: 'reserve', stream: 'live', composes: true }] : [];
    }
    const changes = recorded(view);
    return changes.length > 0 ? changes : nextPhase(view);
  },
  onDecided: ({ own, run }, then): readonly Move[] => {
    if (then === 'ask_model') return [{ do: 'judge', name: 'decide' }];
    if (then === 'ask_user') return [{ do: 'ask', question: own.word?.question ?? '' }];
    if (then === 'adjust') {
      const reason = own.word?.reason || 'The steps brought no progress.';
      return [
        { do: 'note', data: { ...fresh, reason } },
        { do: 'plan', forbidTried: run.decisions.at(-1)?.rule === 'D7' },
      ];
    }
    // Not sure enough, a step of the user, or one that was never run: the same step of the plan is next.
    const isSame = own.word?.action === 'done' || own.override !== null || own.unprepared;
    const index = Math.min(own.index + (isSame ? 0 : 1), Math.max(0, (own.steps?.length ?? 1) - 1));
    return [{ do: 'note', data: { ...fresh, index } }];
  },
  onCommand: (view, command): readonly Move[] => {
    if (command.name === 'answer') {
      // A step of the user that waited for the answer comes after the new plan, as its command says that it was applied.
      const isWaiting = view.own.override !== null && view.own.doing === 'run';
      return [{ do: 'note', data: { ...(isWaiting ? {} : fresh), reason: 'The user has answered.' } }, { do: 'plan' }];
    }
    if (command.name !== 'override_step') return [];
    const given = overrideOf(view, command);
    if (typeof given === 'string') return [{ do: 'reject', reason: given }];
    return [
      { do: 'cancel', what: 'open' },
      { do: 'note', data: { ...fresh, ...given, doing: 'run' } },
    ];
  },
  lastAnswer,
  summary: (view, tasks) => ({
    planSummary: bounded(tasks.map(({ capability, tool, task }) => `${tool ?? capability}: ${task}`).join('; '), 400),
    findings: bounded(view.own.evaluation?.summary ?? lastStep(view)?.[1].result?.text ?? '', 2_000),
  }),
  report: (view) => ({
    complexity: 'moderate',
    review: 'none',
    results: stepTasks(view).flatMap(([ref, { spec, result }]) =>
      result?.status === 'ok' && result.text !== ''
        ? [{ id: ref.slice(ref.indexOf('/') + 1), text: bounded(`${spec.task}: ${result.text}`, longestResult) }]
        : [],
    ),
    unique: view.run.memory.userInputs.length > 0 || stepTasks(view).some(([, { spec }]) => spec.capability === 'mcp'),
    steps: {
      done: stepTasks(view).map(([ref]) => ref),
      ahead: stepsAhead(view.own).map(({ capability, input_description, reason }) => ({ capability, input: input_description, reason })),
      memory: view.own.memory,
      scores: [...view.own.scores],
    },
  }),
};
