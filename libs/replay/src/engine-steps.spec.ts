import { describe, expect, it } from '@jest/globals';
import { CommandIssued, commandId, makeEvent, PlanRequested, type Event, type StepRecorded, type Template } from '@conclave/contracts';
import type { EngineInput, RunState } from '@conclave/loop';
import { noProbe, silentLogger } from '@conclave/platform';
import { MemoryStores, type StateStore, type Step } from '@conclave/ports';
import { chainHash, EngineHandler, stateHash } from '@conclave/service-merger';
import { strategyOf } from '@conclave/strategies';
import { PermitKey } from '@conclave/calls';
import { replay } from './replay.js';

const permitKey = new PermitKey(new MemoryStores().connect('keys').state.once);

const runId = 'run_00000001';
const template: Template = {
  id: 't',
  version: 'v1',
  description: '',
  strategy: 'agentic',
  max_agentic_rounds: 1,
  gap_check: 'evidence',
  planner: { models: ['m@fake'], prompt: null },
  judge: { models: ['m@fake'] },
  experts: { general: { t1: ['m@fake'], prompt: 'Answer.' } },
  capabilities: [],
  classes: { expert: 'expert', judge: 'judge' },
  limits: { wall_time_s: 60, model_calls: 60, prompt_tokens: 80_000, tokens: 200_000, cost: null, concurrent_tasks: 8 },
  task_timeout_s: 20,
  start_timeout_s: 10,
  planning_timeout_s: 20,
  progress: 'reasoning',
  prices: {},
  contexts: {},
};
const request = makeEvent(
  PlanRequested,
  { id: runId, runId, source: 'gateway', time: 1 },
  {
    goal: 'What?',
    conversation: [],
    system: null,
    template,
    limits: template.limits,
    caller: { tenant: 'default', actor: 'me' },
    answer: {},
    origin: 'runs',
    requestedAt: 1,
  },
) as EngineInput;
const abort = makeEvent(
  CommandIssued,
  { id: commandId(runId, 1), runId, source: 'transport', time: 2 },
  { seq: 1, actor: 'transport', issuedAt: 2, command: { name: 'abort', reason: 'why' } },
);

/** An engine over a store of one run; its recorded steps are returned as JSON, as from a log. */
function engine() {
  let stored: RunState | null = null;
  let version = 0;
  const steps: StepRecorded['data'][] = [];
  const commit = (_event: Event, take: (current: RunState | null, at: { now: number; version: number }) => Step<RunState> | null) => {
    const taken = take(stored, { now: 1_000 + version, version });
    if (taken) {
      stored = JSON.parse(JSON.stringify(taken.next)) as RunState;
      version += 1;
      for (const { type, data } of taken.outputs)
        if (type === 'StepRecorded') steps.push(JSON.parse(JSON.stringify(data)) as StepRecorded['data']);
    }
    return Promise.resolve({ outputs: taken?.outputs ?? [], repeated: false, state: stored });
  };
  const state = { runs: { header: () => Promise.resolve(request), commit } } as unknown as StateStore;
  return { handler: new EngineHandler(state, noProbe, permitKey, silentLogger), steps };
}

describe("the engine's records of its steps", () => {
  it('suffice to replay a run from its request to an abort', async () => {
    const { handler, steps } = engine();
    await handler.onInput(request);
    await handler.onInput(abort);
    expect(steps.map(({ request: unapplied }) => unapplied)).toEqual([undefined, undefined]);
    expect(replay(runId, steps, { strategyOf, chainHash, stateHash })).toEqual({ kind: 'same', steps: 2, ended: true });
  });

  it('suffice to replay an abort of a run whose request was never applied', async () => {
    const { handler, steps } = engine();
    await handler.onInput(abort);
    expect(steps).toMatchObject([{ input: { id: abort.id, time: 2 }, request: { id: runId, type: 'PlanRequested', time: 1 } }]);
    expect(replay(runId, steps, { strategyOf, chainHash, stateHash })).toEqual({ kind: 'same', steps: 1, ended: true });
    const [{ request: _request, ...without }] = steps as [StepRecorded['data']];
    expect(replay(runId, [without], { strategyOf, chainHash, stateHash })).toMatchObject({ kind: 'refused', version: 1 });
  });
});
