import { addUsage, noUsage, planId, type RunView, type Usage } from '@conclave/contracts';
import { isAssessed } from './finish.js';
import { isBorn, tasksOf, type RunState, type TaskState } from './state.js';

type View = RunView['rounds'][number]['tasks'][number];

/** A run as people read it, from the state the engine stored. Pure. */
export function describeRun(stored: unknown): RunView {
  const run = stored as RunState;
  const template = isBorn(run) ? run.template : null;
  const items = run.plans.flatMap(({ epoch, usage }) => [
    { owner: planId(run.runId, epoch), capability: 'plan', model: null, usage },
    ...tasksOf(run, epoch).flatMap(([id, task]) => {
      const spent = usageOf(task);
      return spent.calls > 0 ? [{ owner: id, capability: task.spec.capability, model: task.result?.model ?? null, usage: spent }] : [];
    }),
  ]);
  return {
    object: 'run',
    id: run.runId,
    template: { id: template?.id ?? '', version: template?.version ?? '', strategy: template?.strategy ?? '' },
    status: run.phase === 'done' ? (run.ending?.outcome ?? 'done') : run.phase,
    terminal: run.phase === 'done',
    outcome: run.phase === 'done' ? (run.ending?.outcome ?? null) : null,
    rule: run.ending?.rule ?? null,
    reason: run.ending?.reason ?? null,
    reasonCode: run.ending?.reasonCode ?? null,
    question: run.goal,
    answer: run.answer?.text ?? null,
    cutShort: run.answer?.cutShort ?? false,
    complexity: run.complexity ?? levelOf(run),
    cached: run.cached ? { origin: run.cached.origin, runId: run.cached.runId, distance: run.cached.distance } : null,
    assessed: run.phase === 'done' ? isAssessed(run) : null,
    review: run.phase === 'done' ? (run.review ?? 'none') : null,
    sources: [...(run.answer?.sources ?? [])],
    rounds: run.plans.map(({ epoch, fallback, usage }) => ({
      epoch,
      fallback,
      planUsage: usage,
      tasks: tasksOf(run, epoch).map(([id, task]) => taskView(id, task)),
    })),
    history: run.history,
    decisions: run.decisions.map((decision) => ({ ...decision })),
    usage: { total: run.spent, items, openCalls: run.openCalls ?? 0, recorded: null },
    limits: run.limits ?? { wall_time_s: 1, model_calls: 1, prompt_tokens: 1, tokens: 1, cost: null, concurrent_tasks: 1 },
    failure: run.failure,
    acceptedAt: run.startedAt,
    startedAt: run.startedAt,
    completedAt: run.completedAt,
  };
}

/** The first plan says it; before there is one nothing is known. */
const levelOf = (run: RunState): RunView['complexity'] => (run.plans[0]?.complexity as RunView['complexity']) ?? null;

const usageOf = (task: TaskState): Usage => addUsage(task.result?.usage ?? noUsage, task.lateUsage ?? noUsage);

const taskView = (id: string, task: TaskState): View => ({
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
  ...(task.result?.notes ? { notes: [...task.result.notes] } : {}),
  usage: usageOf(task),
  durationMs: task.result?.durationMs ?? null,
  failure: task.result?.failure ?? null,
});
