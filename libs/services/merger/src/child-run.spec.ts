import { describe, expect, it } from '@jest/globals';
import { childRunId, type PlanRequested, type TaskDispatched, type TaskInput } from '@conclave/contracts';
import { MemoryStores } from '@conclave/ports';
import { acceptance } from '@conclave/ports/suites';
import { beginChildRun } from './child-run.js';

const runId = 'run_parent00001';
const { template, caller } = acceptance(runId).header.data;

async function begun(input: Partial<Extract<TaskInput, { kind: 'run' }>>): Promise<PlanRequested> {
  const { state } = new MemoryStores({ clock: { now: () => 1_000, random: () => 0, after: () => () => undefined } }).connect('merger');
  const { limits } = template;
  const task = {
    ...{ id: 'task', runId, traceparent: undefined },
    data: {
      ...{ taskId: `${runId}/0/t1`, startBy: 2_000, timeoutS: 10, allowance: { calls: 1, tokens: 1_000, cost: null } },
      input: { kind: 'run', goal: 'What do trains cost?', template, children: {}, limits, caller, ...input },
    },
  } as unknown as TaskDispatched;
  const [header] = await beginChildRun(task, { state, cancels: { isCancelled: () => Promise.resolve(false) } as never });
  return header as PlanRequested;
}

describe('a child run', () => {
  it('is requested under an id of its task, and no cache answers it or stores its answer', async () => {
    expect(await begun({})).toMatchObject({ runId: childRunId(`${runId}/0/t1`), data: { goal: 'What do trains cost?', caching: null } });
  });

  it('learns nothing if its parent does not', async () => {
    expect((await begun({ unlearned: true })).data).toMatchObject({ unlearned: true });
    expect((await begun({})).data).not.toHaveProperty('unlearned');
  });
});
