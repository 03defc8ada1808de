import { parentTaskOf, planId, resultId } from '@conclave/contracts';
import { inputOf, step } from '@conclave/loop';
import { strategyOf } from '@conclave/strategies';
import type { LoggedRecord } from '../evidence/evidence.js';
import type { Case } from './case.js';
import type { DrivenRun } from './driven-run.js';

type Event = NonNullable<LoggedRecord['event']>;
/** Null if the effect of the event on this group is durable, otherwise what is missing, as a clause. */
export type Missing = (group: string, service: string, event: Event) => string | null;

/**
 * What a group must have left behind for an event it has committed:
 * - a task class: the result of the task;
 * - `planner`: the plan. For a run that is over or cancelled, or whose time for planning has passed, the planner leaves nothing: that is
 *   excused if the run has ended and the planner's history says that it completely handled the event;
 * - `merger`: a recorded step of the engine with all its outputs on the log. The engine takes no step if nothing follows, as for a run
 *   that is over or a timer that was armed again: excused if it takes none in the state that the recorded steps lead to, and the
 *   merger's history says that it completely handled the event. So is the cancel of a child run that was never requested;
 * - others (`graph-ingest`): their effect is outside the log; the history of the service must say that it completely handled the event.
 * If a service has no deliveries in the history at all, every event counts as handled, and only the excuse is checked.
 */
export function effectsOn(of: Case): Missing {
  const onLog = new Set(of.records.flatMap(({ event }) => (event ? [event.id] : [])));
  const ended = new Set(of.events('RunCompleted').map(({ runId }) => runId));
  const cancelled = new Set(
    of
      .events('CommandIssued')
      .filter(({ data }) => data.command.name === 'cancel')
      .map(({ runId }) => runId),
  );
  const unhandled = (service: string, event: Event): boolean => of.wasHandled(service, event.type, event.id) === false;

  function onPlanner(service: string, event: Event): string | null {
    const epoch = event.type === 'GapDetected' ? (event.data as { epoch: number }).epoch + 1 : 0;
    const plan = planId(event.runId, epoch);
    if (onLog.has(plan)) return null;
    if (!ended.has(event.runId) && !cancelled.has(event.runId)) return `${plan} is not on the log and its run is open`;
    return unhandled(service, event) ? `${plan} is not on the log and the planner never finished it` : null;
  }

  function onEngine(service: string, event: Event): string | null {
    const run = of.runs().get(event.runId);
    if (run?.inputs.has(event.id)) {
      const lost = run.outputs.get(event.id)!.filter((id) => !onLog.has(id));
      return lost.length === 0 ? null : `its step produced ${lost.join(', ')}, which the log does not contain`;
    }
    if (!isIgnored(run, event, ended) && !isOfUnbegunChild(event)) return 'no step of the engine has applied it';
    return unhandled(service, event) ? 'no step of the engine has applied it and the merger never finished it' : null;
  }

  /** Whether it cancels a child run that never began: nothing is left to do. */
  const isOfUnbegunChild = ({ type, runId, data }: Event): boolean =>
    type === 'CommandIssued' &&
    (data as { command: { name: string } }).command.name === 'cancel' &&
    parentTaskOf(runId) !== null &&
    !onLog.has(runId);

  return (group, service, event) => {
    if (group.startsWith('tasks.')) {
      const result = resultId((event.data as { taskId: string }).taskId);
      return onLog.has(result) ? null : `${result} is not on the log`;
    }
    if (group === 'planner') return onPlanner(service, event);
    if (group === 'merger') return onEngine(service, event);
    return unhandled(service, event) ? `${group} never finished it` : null;
  };
}

/** Whether the engine returns null for this input in the present state of its run. A run that has started needs no request. */
function isIgnored(run: DrivenRun | undefined, { runId, id, type, time, data }: Event, ended: ReadonlySet<string>): boolean {
  if (ended.has(runId)) return true;
  if (!run?.state) return false;
  try {
    return step(run.state, inputOf(runId, { id, type, time, data }), time, strategyOf) === null;
  } catch {
    // The input concerns something that this state does not contain, or it cannot be read. Neither is a reason to ignore it.
    return false;
  }
}
