import { describe, expect, it } from '@jest/globals';
import type { Event, TaskDispatched } from '@conclave/contracts';
import { noProbe, openMetrics, silentLogger } from '@conclave/platform';
import { type HandlerOutcome, isDeferred, MemoryStores, type Models } from '@conclave/ports';
import { CallMaker } from './call-maker.js';
import type { CallEnd } from './calls.js';
import { type Capability, workOn } from './task-worker.js';
import { earlyEnd, recordsOf } from './tool-task.js';

/** A worker whose tasks make two calls, and a list of the calls made. */
function worker() {
  const stores = new MemoryStores();
  const { state, stream } = stores.connect('experts');
  const called: string[] = [];
  const maker = new CallMaker({
    ...{ state, stream, models: {} as Models, probe: noProbe, logger: silentLogger, metrics: openMetrics(), guard: null },
    ...{ processId: 'experts', service: 'experts', storePrompts: 'full' },
  });
  const signal = new AbortController().signal;
  const capability: Capability = async ({ task, deadline }) => {
    const call = (index: number): Promise<CallEnd> =>
      maker.tool(
        { runId: task.runId, owner: task.data.taskId, index, purpose: 'tool', name: 'x', request: { index }, task, deadline, signal },
        async () => {
          called.push(`${task.data.taskId} ${index}`);
          return 'found';
        },
      );
    const ends = [await call(0), await call(1)];
    return earlyEnd(ends) ?? { result: { status: 'ok' }, records: recordsOf(ends) };
  };
  const data = { taskId: 'run_published/0/t1', epoch: 0, capability: 'research', startBy: Date.now() + 60_000, timeoutS: 60 };
  const task = { id: data.taskId, type: 'TaskDispatched', runId: 'run_published', data } as unknown as TaskDispatched;
  const deliver = (): Promise<HandlerOutcome> =>
    workOn(task, { state, cancels: maker.cancels, source: 'experts', signal, capability, callsFirst: true });
  return { state, called, deliver };
}

const eventsOf = (outcome: HandlerOutcome): readonly Event[] => (isDeferred(outcome) ? [] : outcome);

describe('a task that is delivered again', () => {
  it('returns the same events without a call until they are known to be on the log', async () => {
    const { called, deliver } = worker();
    const first = eventsOf(await deliver());
    expect(first.map(({ type }) => type)).toEqual(['ResultReady', 'CallRecorded', 'CallRecorded']);
    expect(eventsOf(await deliver()).map(({ id }) => id)).toEqual(first.map(({ id }) => id));
    expect(called).toHaveLength(2);
  });

  it('returns no events once they are', async () => {
    const { state, called, deliver } = worker();
    state.published!(eventsOf(await deliver()));
    expect(await deliver()).toEqual([]);
    expect(called).toHaveLength(2);
  });
});
