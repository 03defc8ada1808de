import { makeEvent, PlanRequested } from '@conclave/contracts';

const limits = { wall_time_s: 1, model_calls: 1, prompt_tokens: 1, tokens: 1, cost: null, concurrent_tasks: 1 };

/**
 * Replaces a request whose body was lost, so that its run can be ended. The caller is lost too: the run belongs to the tenant used when no
 * keys are configured, and the question is not part of it. `time` in milliseconds since 1970.
 */
export const lostRequest = (runId: string, time: number): PlanRequested =>
  makeEvent(
    PlanRequested,
    { id: runId, runId, source: 'gateway', time },
    {
      goal: '(the question was lost with the state store)',
      conversation: [],
      system: null,
      template: {
        ...{ id: 'lost', version: 'lost', description: '', strategy: 'single-pass', max_agentic_rounds: 0, gap_check: 'evidence' },
        ...{ planner: { models: ['lost@lost'], prompt: null }, judge: { models: ['lost@lost'] } },
        ...{ experts: { general: { t1: ['lost@lost'], prompt: 'lost' } }, capabilities: [], classes: {}, limits },
        ...{ task_timeout_s: 1, start_timeout_s: 1, planning_timeout_s: 1, progress: 'none', prices: {}, contexts: {} },
      } as PlanRequested['data']['template'],
      limits,
      caller: { tenant: 'default', actor: 'unknown' },
      answer: {},
      origin: 'runs',
      requestedAt: time,
    },
  );
