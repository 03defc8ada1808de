import {
  completedId,
  type Draft,
  type Ending,
  type Event,
  type Fact,
  type FactOf,
  GapDetected,
  gapId,
  makeEvent,
  planId,
  RunCompleted,
  type RunFact,
  TaskDispatched,
  type TaskInputDraft,
} from '@conclave/contracts';
import { budgetLeft } from './budget.js';
import { clientToolsRef } from './client-tools.js';
import { childCancelled, resultForParent } from './child-runs.js';
import { currentFacts } from './memory.js';
import { isExpert } from './task-class.js';
import type { RunState } from './state.js';
import { viewOf, type Strategies } from './view.js';

/** The parts of a step in progress that its outputs depend on. */
interface Leaving {
  readonly run: RunState;
  readonly now: number;
  readonly strategies: Strategies;
  /** Inputs of the tasks that the step opened, by task id. */
  readonly inputs: ReadonlyMap<string, TaskInputDraft>;
}

/** All outputs of a fact, given the state right after it. No outputs are made elsewhere. */
export function outputsOf(leaving: Leaving, fact: RunFact): readonly Event[] {
  switch (fact.kind) {
    case 'PlanAwaited':
      return fact.by === 'engine' ? [gapEvent(leaving, fact)] : [];
    case 'TaskOpened':
      return [taskEvent(leaving, fact)];
    case 'TaskSettled':
      return childCancelled(leaving.run, fact);
    case 'RunEnded':
      return [completedEvent(leaving, fact), ...resultForParent(leaving.run, fact)];
    default:
      return [];
  }
}

/** Ids of plans and tasks whose work must stop. */
export function cancelsOf(run: RunState, fact: RunFact): readonly string[] {
  if (fact.kind === 'PlanRefused') return fact.by === 'planner' ? [] : [planId(run.runId, fact.epoch)];
  return fact.kind === 'TaskSettled' && fact.by === 'engine' ? [fact.ref] : [];
}

function gapEvent(leaving: Leaving, { epoch, max, forbidTried }: FactOf<'PlanAwaited'>): Event {
  const { run, now, strategies } = leaving;
  const { gap, nextFocus, history, memory } = run;
  const left = budgetLeft(run, now);
  const forbidden = forbidTried ? memory.tried.map(({ capability, argument }) => `${capability}: ${argument}`) : [];
  const asked = strategies(run.strategy).planner.ask(viewOf(run, strategies, now), { forbidTried });
  return makeEvent(
    GapDetected,
    { id: gapId(run.runId, epoch - 1), runId: run.runId, source: 'merger', time: now },
    {
      epoch: epoch - 1,
      // Re-plans of the strategy; a plan of a router before it does not count.
      iteration: Math.max(1, run.replans),
      max: Math.max(1, max),
      gap,
      nextFocus,
      history: [...history],
      memory,
      forbidden,
      left,
      strategy: run.strategy,
      ...(run.plan === null ? { first: true } : {}),
      ...asked,
    },
  );
}

const pick = <V>(table: Readonly<Record<string, V>>, keys: readonly string[]): Record<string, V> =>
  Object.fromEntries(keys.flatMap((key) => (table[key] === undefined ? [] : [[key, table[key]]])));

function taskEvent({ run, now, inputs }: Leaving, { ref, taskClass, ...opened }: FactOf<'TaskOpened'>): Event {
  const { spec, epoch, models, tier } = run.tasks[ref]!;
  const { template, caller, detail, caching } = run.request;
  const { userInputs } = run.memory;
  return makeEvent(
    TaskDispatched,
    { id: ref, runId: run.runId, source: 'merger', time: now, key: ref, taskClass },
    {
      taskId: ref,
      epoch,
      capability: spec.capability,
      input: withMark(run, inputs.get(ref)!),
      models: [...models],
      prices: pick(template.prices, models),
      contexts: pick(template.contexts, models),
      strategy: run.strategy,
      tenant: caller.tenant,
      startBy: opened.startBy,
      timeoutS: opened.timeoutS,
      allowance: opened.allowance,
      stream: opened.stream,
      tier: tier ?? 't1',
      detail: detail ?? 'redacted',
      cached: (caching ?? null) !== null && (template.caches?.search ?? false),
      prompts: template.prompts ?? {},
      ...(userInputs.length > 0 && models.length > 0 ? { userInputs: userInputs.map(({ text }) => text) } : {}),
    },
  );
}

/** Whether a fact is a result of the client's tools, or quoted in its request: only this run may use it. */
const isOfClient = (runId: string, { taskId, source }: Fact): boolean => taskId === clientToolsRef(runId) || source.kind === 'request';
/** Also a child run of such a run: its question may quote what its parent was given. */
const ofClient = ({ runId, request, memory }: RunState): boolean =>
  request.unlearned === true || memory.facts.some((fact) => isOfClient(runId, fact));

/** The input of a task; a child run learns only what its parent may. */
const withMark = (run: RunState, input: TaskInputDraft): TaskInputDraft =>
  input.kind === 'run' && ofClient(run) ? { ...input, unlearned: true } : input;

/** Characters of the question that are stored with an answer, so that a similar question finds it. */
const keptOfGoal = 100;

/** The answer for later runs to recall; empty if it was assembled without a model, or if its run was not completed. */
const answerToKeep = (goal: string, { outcome, reasonCode }: Ending, answer: Draft | null) =>
  answer !== null && outcome === 'completed' && reasonCode !== 'composer_failed'
    ? [{ id: 'answer', text: `${goal.slice(0, keptOfGoal)}: ${answer.text}` }]
    : [];

/** Maximum number of facts in the terminal event, for learning from the run. */
const factsToLearnFrom = 12;

function completedEvent(leaving: Leaving, fact: FactOf<'RunEnded'>): Event {
  const { ending, answer, failure, usage, rounds, openCalls, at } = fact;
  const { run, strategies } = leaving;
  const { template, caller, cached, caching, requestedAt, goal, deliver, parentSpan } = run.request;
  const { complexity, review, unique, results } = strategies(run.strategy).report(viewOf(run, strategies, null));
  return makeEvent(
    RunCompleted,
    { id: completedId(run.runId), runId: run.runId, source: 'merger', time: at },
    {
      ...ending,
      answer: answer?.text ?? null,
      cutShort: answer?.cutShort ?? false,
      sources: [...(answer?.sources ?? [])],
      usage,
      openCalls,
      rounds,
      failure,
      ...(results && !run.forked && !ofClient(run)
        ? { remember: { kind: template.strategy, results: [...answerToKeep(goal, ending, answer), ...results] } }
        : {}),
      question: goal,
      assessed: run.assessed,
      // Nothing is learned from a fork, because it is a variant of the run that it continues, nor from results of a client's tools, because
      // they are for this question alone.
      insight: run.forked || ofClient(run) ? null : (answer?.insight ?? null),
      history: [...run.history],
      caller,
      template: {
        id: template.id,
        version: template.version,
        strategy: template.strategy,
        ...(template.split_of ? { split_of: template.split_of } : {}),
      },
      complexity,
      cached: cached ? { origin: cached.origin, runId: cached.runId, distance: cached.distance } : null,
      // What the user said during this run does not apply to the next one with the same question.
      caching: unique || run.memory.userInputs.length > 0 || ofClient(run) ? null : (caching ?? null),
      plan: run.keptPlan,
      experts: expertOutcomes(run),
      review,
      ...(deliver ? { deliver: [...deliver] } : {}),
      ...(parentSpan ? { parentSpan } : {}),
      evidence: currentFacts(run.memory)
        .filter((fact) => fact.source.kind !== 'expert' && !isOfClient(run.runId, fact))
        .slice(-factsToLearnFrom),
      ...(answer === null ? {} : { learning: learningOf(run) }),
      startedAt: requestedAt,
      completedAt: at,
    },
  );
}

const learningOf = (run: RunState) => {
  const { learn, judge, prices, contexts } = run.request.template;
  const graph = run.forked || ofClient(run) ? ('off' as const) : (learn ?? ('insights' as const));
  return { graph, models: judge.models, prices, contexts };
};

const expertOutcomes = (run: RunState) =>
  Object.entries(run.tasks).flatMap(([taskId, { spec, result, tier }]) =>
    isExpert(spec.capability) && result && result.status !== 'repeated' && !run.forked?.settled.includes(taskId)
      ? [
          {
            taskId,
            category: spec.capability.slice('expert.'.length),
            model: result.model,
            tier: tier ?? ('t1' as const),
            confidence: result.confidence,
            gaps: [...result.gaps],
            status: result.status,
          },
        ]
      : [],
  );
