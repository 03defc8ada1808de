import { childRunId, CommandIssued, type Event, type FactOf, makeEvent, parentTaskOf, ResultReady, resultId } from '@conclave/contracts';
import { currentFacts } from './memory.js';
import type { RunState } from './state.js';

/** Capability of a task that starts a child run. */
export const runCapability = 'run';

/** Maximum number of a child run's facts that are added to the ledger of its parent. */
const factsTold = 12;

/**
 * The cancel command for the child run of a task that the engine itself settled, because nothing waits for that run any longer; else empty.
 */
export function childCancelled(run: RunState, { ref, by, at, result }: FactOf<'TaskSettled'>): readonly Event[] {
  if (by !== 'engine' || run.tasks[ref]!.spec.capability !== runCapability) return [];
  const runId = childRunId(ref);
  const reason = `The run that started it no longer waits for it: ${result.failure?.message ?? result.status}`;
  return [
    makeEvent(
      CommandIssued,
      { id: `${ref}/cancel`, runId, source: 'merger', time: at },
      { seq: 0, actor: 'engine', issuedAt: at, command: { name: 'cancel', reason } },
    ),
  ];
}

/** The end of a child run as the result of the task that started it; empty for a run that a client requested. */
export function resultForParent(run: RunState, { answer, ending, failure, usage, at }: FactOf<'RunEnded'>): readonly Event[] {
  const parent = parentTaskOf(run.runId);
  if (!parent) return [];
  const { taskId, epoch } = parent;
  // Its parent has the documents of the request already.
  const facts = currentFacts(run.memory)
    .filter(({ source }) => source.kind !== 'request')
    .slice(-factsTold)
    .map((fact) => ({ ...fact, taskId, epoch }));
  // A cancelled child only fails its task: only the cancel of the parent ends the parent.
  const why =
    ending.outcome === 'cancelled'
      ? { code: 'CALL_CANCELLED', message: ending.reason, retriable: false }
      : (failure ?? { code: 'RUN_FAILED', message: ending.reason, retriable: false });
  return [
    makeEvent(
      ResultReady,
      { id: resultId(taskId), runId: parent.runId, source: 'merger', time: at },
      {
        taskId,
        epoch,
        ...(answer
          ? { status: 'ok', output: { kind: 'run', runId: run.runId, outcome: ending.outcome, text: answer.text, facts }, failure: null }
          : { status: 'error', output: null, failure: why }),
        confidence: null,
        gaps: run.gap === '' || !answer ? [] : [run.gap],
        refer: [],
        sources: [...(answer?.sources ?? [])],
        model: null,
        usage,
        attempt: 1,
        durationMs: Math.max(0, at - run.request.requestedAt),
      },
    ),
  ];
}
