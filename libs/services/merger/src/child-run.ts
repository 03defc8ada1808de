import { childRunId, makeEvent, PlanRequested, type Event, type RunLimits, type TaskDispatched, type TaskInput } from '@conclave/contracts';
import { note, resultOf, type Calls } from '@conclave/calls';
import { traceContextOf, traceparentFor } from '@conclave/platform';
import type { StateStore } from '@conclave/ports';

/** The part of the state in which child runs are accepted. */
export interface AcceptingState extends Pick<StateStore, 'now'> {
  readonly runs: Pick<StateStore['runs'], 'accept' | 'header'>;
}

type Input = Extract<TaskInput, { kind: 'run' }>;

/** A child never gets more than the limits of its template, its parent and its task. */
function limitsOf({ template, limits }: Input, { allowance, timeoutS }: TaskDispatched['data']): RunLimits {
  const costs = [template.limits.cost, limits.cost, allowance.cost].filter((cost) => cost !== null);
  return {
    wall_time_s: Math.min(template.limits.wall_time_s, limits.wall_time_s, timeoutS),
    model_calls: Math.min(template.limits.model_calls, allowance.calls),
    prompt_tokens: Math.min(template.limits.prompt_tokens, limits.prompt_tokens),
    tokens: Math.min(template.limits.tokens, allowance.tokens),
    cost: costs.length === 0 ? null : Math.max(Number.MIN_VALUE, Math.min(...costs)),
    concurrent_tasks: Math.min(template.limits.concurrent_tasks, limits.concurrent_tasks),
  };
}

/**
 * `run`: accepts a run as a gateway does, with an id derived from the task's, so that a redelivered task starts no second run. It does not
 * count as an open run, because its parent does. It gets the documents that the request of its parent quotes. Returns its request; its end
 * is the result of the task, and nothing waits for it here.
 */
export async function beginChildRun(
  task: TaskDispatched,
  { state, cancels }: { readonly state: AcceptingState; readonly cancels: Calls['cancels'] },
): Promise<readonly Event[]> {
  const { data, traceparent } = task;
  const runId = childRunId(data.taskId);
  const known = await state.runs.header(runId);
  if (known) return [known];
  const now = await state.now();
  if (await cancels.isCancelled([task.runId, data.taskId]))
    return [resultOf(task, 'merger', { status: 'cancelled', failure: note('CALL_CANCELLED', 'The task was cancelled before it began.') })];
  if (now > data.startBy)
    return [
      resultOf(task, 'merger', { status: 'timeout', failure: note('TASK_EXPIRED', 'The task was not started before its deadline.') }),
    ];
  const input = data.input as Input;
  // Read here, so that they are not in the record of each task, too.
  const documents = (await state.runs.header(task.runId))?.data.documents;
  const header = makeEvent(
    PlanRequested,
    { id: runId, runId, source: 'merger', time: now, traceparent: traceparentFor({ id: runId, runId }, traceContextOf(traceparent)) },
    {
      goal: input.goal,
      conversation: [],
      system: null,
      template: input.template,
      limits: limitsOf(input, data),
      caller: input.caller,
      answer: {},
      origin: 'runs',
      requestedAt: now,
      ...(input.language === undefined ? {} : { language: input.language }),
      ...(documents === undefined ? {} : { documents }),
      // Only its parent gets the answer.
      caching: null,
      children: input.children,
      ...(input.unlearned ? { unlearned: input.unlearned } : {}),
      ...(data.detail === 'full' ? { detail: data.detail } : {}),
    },
  );
  await state.runs.accept({ header, retryKey: null, openLimit: Number.MAX_SAFE_INTEGER });
  // Two workers that receive the task at the same moment publish the header that was stored first.
  return [(await state.runs.header(runId)) ?? header];
}
