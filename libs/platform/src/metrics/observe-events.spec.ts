import { describe, expect, it } from '@jest/globals';
import type { Event, Verdict } from '@conclave/contracts';
import { openMetrics } from './metrics.js';
import { observeEvents } from './observe-events.js';

const event = (type: string, id: string, data: object): Event => ({ type, id, data }) as unknown as Event;
const dispatched = event('TaskDispatched', 'task', { capability: 'judge.gap' });
const verdict = (id: string, changes: Partial<Verdict> | null): Event =>
  event('ResultReady', id, {
    status: changes ? 'ok' : 'error',
    durationMs: 5,
    output: changes && { kind: 'assessment', assessment: { verdict: 'complete', gap: '', nextFocus: '', parsed: true, ...changes } },
  });
const ended = (id: string, data: object): Event =>
  event('RunCompleted', id, {
    template: { id: 't', strategy: 'agentic' },
    outcome: 'completed',
    rounds: 1,
    startedAt: 1,
    completedAt: 2,
    ...data,
  });

describe('gap checks', () => {
  it('are counted by their verdict, one that could not be read and one that failed apart from a complete one', async () => {
    const metrics = openMetrics();
    const observe = observeEvents(metrics);
    observe(dispatched, [
      verdict('1', {}),
      verdict('2', { verdict: 'needs_more_info' }),
      verdict('3', { parsed: false }),
      verdict('4', null),
    ]);
    const text = await metrics.text();
    for (const said of ['complete', 'needs_more_info', 'unreadable', 'failed'])
      expect(text).toContain(`conclave_gap_checks_total{verdict="${said}"} 1`);
  });

  it('that ended a run without a verdict are counted with the run', async () => {
    const metrics = openMetrics();
    observeEvents(metrics)(dispatched, [
      ended('1', { rule: 'D3', assessed: false }),
      ended('2', { rule: 'D3', assessed: true }),
      ended('3', { rule: 'D6', assessed: false }),
    ]);
    expect(await metrics.text()).toContain('conclave_unassessed_runs_total 1');
  });
});
