import { commandId, CommandIssued, makeEvent, PlanRequested, type EngineEntry, type Event } from '@conclave/contracts';
import type { AcceptRequest, Step, StepTime, TimerToArm } from '../state.js';
import { newRunId } from './store-harness.js';

/** Stand-in for the engine's state; the suites only count. */
export interface Tally {
  readonly count: number;
  readonly seen: readonly string[];
}

export function sampleHeader(runId: string, tenant = 'acme', goal = 'Why is the sky blue?'): PlanRequested {
  const limits = { wall_time_s: 600, model_calls: 30, prompt_tokens: 100_000, tokens: 200_000, cost: null, concurrent_tasks: 4 };
  return makeEvent(
    PlanRequested,
    { id: runId, runId, source: 'gateway', time: 1_700_000_000_000 },
    {
      goal,
      conversation: [],
      system: null,
      template: {
        id: 'committee',
        version: 'v1',
        description: 'sample',
        strategy: 'agentic',
        max_agentic_rounds: 2,
        gap_check: 'evidence',
        planner: { models: ['small@local'], prompt: null },
        judge: { models: ['small@local'] },
        experts: { general: { t1: ['small@local'], prompt: 'Answer.' } },
        capabilities: ['research'],
        classes: {},
        limits,
        task_timeout_s: 60,
        start_timeout_s: 30,
        planning_timeout_s: 60,
        progress: 'reasoning',
        prices: {},
        contexts: {},
      },
      limits,
      caller: { tenant, actor: 'key-1' },
      answer: {},
      origin: 'runs',
      requestedAt: 1_700_000_000_000,
    },
  );
}

export const acceptance = (
  runId = newRunId(),
  more: { tenant?: string; retryKey?: string; openLimit?: number; goal?: string } = {},
): AcceptRequest => ({
  header: sampleHeader(runId, more.tenant, more.goal),
  retryKey: more.retryKey ?? null,
  openLimit: more.openLimit ?? 1_000,
});

/** The n-th input of a run. */
export const nthInput = (runId: string, n: number): Event =>
  makeEvent(
    CommandIssued,
    { id: commandId(runId, n), runId, source: 'gateway', time: 1_700_000_000_000 + n },
    { seq: n, actor: 'key-1', issuedAt: 1_700_000_000_000 + n, command: { name: 'pause' } },
  );

/** An output event of a step; its content does not matter here. */
export const namedOutput = (runId: string, name: string): Event => ({ ...nthInput(runId, 1), id: `${runId}/output/${name}` });

export const timer = (name: string, dueAt: number, arm = 1): TimerToArm => ({ name, arm, dueAt });

/** A step that counts its input; the rest is empty unless given. */
export const counting =
  (event: Event, more: Partial<Step<Tally>> | ((at: StepTime) => Partial<Step<Tally>>) = {}) =>
  (current: Tally | null, at: StepTime): Step<Tally> => ({
    next: { count: (current?.count ?? 0) + 1, seen: [...(current?.seen ?? []), event.id] },
    outputs: [],
    entries: [],
    arm: [],
    disarm: [],
    cancels: [],
    terminal: false,
    status: 'collecting',
    ...(typeof more === 'function' ? more(at) : more),
  });

export const planning = (epoch: number): EngineEntry => ({ kind: 'planning', epoch, iteration: epoch, max: 2 });

export const completed = (answer = 'Because of scattering.'): EngineEntry => ({
  kind: 'run.completed',
  outcome: 'completed',
  rule: 'D1',
  reason: 'Nothing is missing.',
  reasonCode: 'sufficient',
  answer,
  cutShort: false,
  sources: [],
  usage: { calls: 1, prompt: 10, completion: 5, reasoning: 0, cost: 0, estimated: false },
  rounds: 1,
  failure: null,
});

/** What the last step of a run adds. */
export const ending: Partial<Step<Tally>> = { terminal: true, status: 'completed', entries: [completed()] };
