import { makeEvent, noUsage, RunCompleted } from '@conclave/contracts';

export const endedAt = Date.parse('2026-03-10T12:00:00Z');

/** The end of a run. */
export const ended = (over: Partial<RunCompleted['data']> = {}, runId = 'run_00000001'): RunCompleted =>
  makeEvent(
    RunCompleted,
    { id: `${runId}/completed`, runId, source: 'merger', time: endedAt },
    {
      ...{ outcome: 'completed', rule: 'D3', reason: 'Nothing was missing.', reasonCode: 'sufficient' },
      ...{ question: 'Who wrote Hamlet?', answer: 'Shakespeare [1].', cutShort: false, insight: null, history: [], rounds: 1 },
      sources: [{ kind: 'web', title: 'A page', url: 'https://example.org/hamlet', n: 1 }],
      ...{ usage: noUsage, failure: null, startedAt: endedAt - 2_000, completedAt: endedAt },
      caller: { tenant: 'acme', actor: 'me' },
      template: { id: 'conclave', version: 'v1', strategy: 'agentic' },
      ...over,
    },
  );
