import { addUsage, noUsage, planId, type RunView, type Source } from '@conclave/contracts';
import {
  bareState,
  clientToolsRef,
  completed,
  currentFacts,
  mostUsedBudget,
  otherRules,
  reserved,
  statusOf,
  StrategyFault,
  tasksOf,
  usageOf,
  viewOf,
  without,
  type RunState,
  type Strategies,
  type Strategy,
  type TaskState,
} from '@conclave/loop';

type TaskOfRun = RunView['rounds'][number]['tasks'][number];
type Item = RunView['usage']['items'][number];

/**
 * A run for people, from the engine's stored state. Pure. A state that cannot be described completely is told to `unusable` and described as
 * far as possible; without `unusable` the error is thrown.
 */
export function describeRun(stored: unknown, strategies: Strategies, unusable?: (runId: string, error: unknown) => void): RunView {
  const run = stored as RunState;
  try {
    return describe(completed(run, strategies), strategies);
  } catch (error) {
    if (!unusable) throw error;
    unusable(run.runId, error);
  }
  try {
    // Without what only the strategy knows.
    return describe({ ...completed(run, strategies), faulty: true }, strategies);
  } catch {
    return describe({ ...bareState(run), faulty: true }, strategies);
  }
}

function describe(run: RunState, strategies: Strategies): RunView {
  const { template, limits, cached, goal, requestedAt } = run.request;
  const { complexity, review, steps, limitsOfRounds, takes } = ofStrategy(run, strategies);
  const { calls, tokens, cost } = reserved(run);
  const isOver = run.endedAt !== null;
  return {
    object: 'run',
    id: run.runId,
    template: { id: template.id, version: template.version, strategy: template.strategy },
    status: statusOf(run),
    terminal: isOver,
    outcome: isOver ? run.ending!.outcome : null,
    rule: run.ending?.rule ?? null,
    reason: run.ending?.reason ?? null,
    reasonCode: run.ending?.reasonCode ?? null,
    question: goal,
    answer: run.answer?.text ?? null,
    cutShort: run.answer?.cutShort ?? false,
    complexity: run.planned > 0 ? complexity : null,
    cached: cached ? { origin: cached.origin, runId: cached.runId, distance: cached.distance } : null,
    assessed: isOver ? run.assessed : null,
    review: isOver ? review : null,
    fork: run.forked ? { of: run.forked.of, step: run.forked.step, before: run.forked.before } : null,
    sources: [...(run.answer?.sources ?? [])],
    evidence: evidenceOf(run),
    steps: steps ?? null,
    rounds: roundsOf(run),
    roundsUsed: run.rounds,
    history: [...run.history],
    decisions: run.decisions.map((decision) => ({ ...decision })),
    otherRules:
      run.endedAt === null
        ? []
        : [...otherRules(run.ending!.rule, { ...run, limits: limitsOfRounds, budget: mostUsedBudget(run, run.endedAt) })],
    takes: [...takes],
    commands: run.commands.map(({ name, epoch, key: _, ...command }) => ({ ...command, command: name, round: epoch })),
    waitsFor: run.question ? { question: run.question.text, deadline: run.question.deadline } : null,
    usage: {
      total: run.spent,
      items: usageItems(run),
      inFlight: { tasks: Object.values(run.tasks).filter(({ status }) => status === 'open').length, calls, tokens, cost },
      openCalls: run.openCalls,
      recorded: null,
    },
    limits,
    failure: run.failure,
    acceptedAt: requestedAt,
    startedAt: requestedAt,
    completedAt: run.endedAt,
  };
}

/** The plans with their tasks, and the tasks of epochs for which there is no plan, such as the answer of a run that had too little for one. */
function roundsOf(run: RunState): RunView['rounds'] {
  const tasks = (epoch: number): TaskOfRun[] => tasksOf(run, epoch).map(([id, task]) => taskView(id, task));
  const planned = run.plans.map(({ epoch, fallback, usage, content }) => ({
    epoch,
    fallback,
    planned: true,
    planUsage: usage,
    ...(content ? { plan: content } : {}),
    tasks: tasks(epoch),
  }));
  const unplanned = withoutPlan(run).map((epoch) => ({ epoch, fallback: false, planned: false, planUsage: noUsage, tasks: tasks(epoch) }));
  return [...planned, ...unplanned].sort((one, other) => one.epoch - other.epoch);
}

const withoutPlan = ({ plans, tasks }: RunState): readonly number[] => {
  const planned = new Set(plans.map(({ epoch }) => epoch));
  return [...new Set(Object.values(tasks).map(({ epoch }) => epoch))].filter((epoch) => !planned.has(epoch));
};

/**
 * What each call to the tool model, each plan and each task used, except tasks without calls. What is left of the whole belongs to plans that
 * came to nothing, of which the state keeps only the sum.
 */
function usageItems(run: RunState): Item[] {
  const { clientTools } = run.request;
  const ofTools = clientTools && clientTools.usage.calls > 0 ? [clientTools] : [];
  const items: Item[] = [
    ...ofTools.map(({ model, usage }) => ({ owner: clientToolsRef(run.runId), capability: 'tools', model, usage })),
    ...run.plans.flatMap(({ epoch, usage }) => [
      { owner: planId(run.runId, epoch), capability: 'plan', model: null, usage },
      ...itemsOfTasks(run, epoch),
    ]),
    ...withoutPlan(run).flatMap((epoch) => itemsOfTasks(run, epoch)),
  ];
  const listed = items.map(({ usage }) => usage).reduce(addUsage, noUsage);
  const unused = {
    calls: run.spent.calls - listed.calls,
    prompt: run.spent.prompt - listed.prompt,
    completion: run.spent.completion - listed.completion,
    reasoning: run.spent.reasoning - listed.reasoning,
    // Sums of prices in another order differ in their last digits.
    cost: Math.max(0, run.spent.cost - listed.cost),
    estimated: run.spent.estimated,
  };
  return unused.calls > 0 ? [...items, { owner: run.runId, capability: 'plan', model: null, usage: unused }] : items;
}

const itemsOfTasks = (run: RunState, epoch: number): Item[] =>
  tasksOf(run, epoch).flatMap(([owner, task]) => {
    const usage = usageOf(task);
    return usage.calls > 0 ? [{ owner, capability: task.spec.capability, model: task.result?.model ?? null, usage }] : [];
  });

/** The strategy's report on the run; an empty one if the strategy's code fails. */
function ofStrategy(run: RunState, strategies: Strategies) {
  const view = viewOf(run, strategies, null);
  const said = ({ report, limits, commands }: Strategy) => ({ ...report(view), limitsOfRounds: limits(view), takes: commands });
  const silent = without(run.strategy, strategies)(run.strategy);
  if (run.faulty) return said(silent);
  try {
    return said(strategies(run.strategy));
  } catch (error) {
    if (!(error instanceof StrategyFault)) throw error;
    return said(silent);
  }
}

const taskView = (id: string, task: TaskState): TaskOfRun => ({
  id,
  capability: task.spec.capability,
  task: task.spec.task,
  needs: [...task.spec.needs],
  status: task.result?.status ?? task.status,
  ...(task.superseded ? { superseded: true } : {}),
  confidence: task.result?.confidence ?? null,
  model: task.result?.model ?? null,
  facts: task.result?.facts ?? 0,
  gaps: [...(task.result?.gaps ?? [])],
  ...(task.spec.capability === 'mcp'
    ? { call: { tool: task.spec.tool ?? '', args: task.spec.args ?? {}, result: task.result?.text || null } }
    : {}),
  ...(task.result && task.result.notes.length > 0 ? { notes: [...task.result.notes] } : {}),
  usage: usageOf(task),
  durationMs: task.result?.durationMs ?? null,
  failure: task.result?.failure ?? null,
});

/** Maximum number of passages of one source, and maximum characters of each. */
const passages = { most: 3, characters: 600 };

const isSame = (one: Source, other: Source): boolean =>
  one.kind === other.kind && one.title === other.title && one.url === other.url && one.document === other.document;

/** The text of the cited sources, as recorded in the ledger. */
function evidenceOf(run: RunState): RunView['evidence'] {
  const known = currentFacts(run.memory);
  return (run.answer?.sources ?? []).flatMap((source) =>
    source.n === undefined
      ? []
      : known
          .filter((fact) => isSame(fact.source, source))
          .slice(0, passages.most)
          .map(({ taskId, text }) => ({ n: source.n!, taskId, text: text.slice(0, passages.characters) })),
  );
}
