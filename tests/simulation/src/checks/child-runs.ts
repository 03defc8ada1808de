import {
  childRunId,
  resultId,
  type CallRecorded,
  type PlanRequested,
  type ResultReady,
  type RunCompleted,
  type TaskDispatched,
} from '@conclave/contracts';
import { runCapability } from '@conclave/loop';
import { isErased } from '../world/effects.js';
import type { Check, Evidence, Violation } from './check.js';

/**
 * A child run gets no more than its task was allowed, and makes no more calls; if it ended by itself, its parent received its answer and
 * its usage; and no child run is requested without a task.
 */
export const childRuns: Check = ({ world, events }) => {
  const found: Violation[] = [];
  const all = <E>(topic: string): readonly E[] => (events.get(topic) ?? []) as unknown as readonly E[];
  const tasks = all<TaskDispatched>('tasks.dispatched.judge').filter(({ data }) => data.capability === runCapability);
  const requests = new Map(all<PlanRequested>('plan.requested').map((event) => [event.runId, event.data]));
  const ends = new Map(all<RunCompleted>('run.completed').map((event) => [event.runId, event.data]));
  const results = all<ResultReady>('results.ready');
  const calls = callsByRun(events);
  const started = new Set(tasks.map(({ id }) => childRunId(id)));
  for (const runId of requests.keys())
    if (runId.includes('~') && !started.has(runId) && !isErased(world, runId))
      found.push({ check: 'child runs', id: runId, sentence: 'was started without a task' });
  for (const { id, data } of tasks) {
    const runId = childRunId(id);
    const say = (sentence: string): void => void found.push({ check: 'child runs', id: runId, sentence });
    const request = requests.get(runId);
    if (!request || isErased(world, runId)) continue;
    const { allowance, timeoutS } = data;
    const { limits } = request;
    if (limits.model_calls > allowance.calls) say(`may make ${limits.model_calls} calls, but its task was allowed ${allowance.calls}`);
    if (limits.tokens > allowance.tokens) say(`may use ${limits.tokens} tokens, but its task was allowed ${allowance.tokens}`);
    if (limits.wall_time_s > timeoutS) say(`may continue for ${limits.wall_time_s} s, but its task was allowed ${timeoutS}`);
    const made = calls(runId);
    if (made > allowance.calls) say(`made ${made} calls together with the runs it started, but its task was allowed ${allowance.calls}`);
    const end = ends.get(runId);
    const told = results.filter((result) => result.id === resultId(id)).map((result) => result.data);
    if (
      !end ||
      !told.some(({ usage, output }) => usage.calls === end.usage.calls && (output?.kind === 'run' ? output.text : null) === end.answer)
    )
      say(
        `ended with ${JSON.stringify(end?.answer ?? null).slice(0, 60)}, but none of the ${told.length} results that its parent received is that`,
      );
  }
  return found;
};

/** Steps of a run and of its child runs that have a recorded model call, each once. */
function callsByRun(events: Evidence['events']): (runId: string) => number {
  const records = ((events.get('audit') ?? []) as CallRecorded[]).filter(
    ({ type, data }) => type === 'CallRecorded' && data.usage.calls > 0,
  );
  const steps = [...new Set(records.map(({ data }) => data.step))];
  return (runId) => steps.filter((step) => step.startsWith(`${runId}/`) || step.startsWith(`${runId}~`)).length;
}
