import { describe, expect, it } from '@jest/globals';
import type { DeliveryHooks } from '@conclave/ports';
import { silentLogger } from '../logging/logger.js';
import { openMetrics } from '../metrics/metrics.js';
import { noProbe } from '../process/probe.js';
import { deliveryHooks } from './delivery-hooks.js';

type Observation = Parameters<NonNullable<DeliveryHooks['handled']>>[0];

/** What is logged as an error for this observation. */
function errorOf(observation: Partial<Observation>) {
  const lines: unknown[] = [];
  const logger = { ...silentLogger, error: (message: string, fields?: object) => void lines.push({ message, ...fields }) };
  const hooks = deliveryHooks({ metrics: openMetrics(), logger, probe: noProbe });
  hooks.handled?.({
    group: 'tasks.judge',
    topic: 'tasks.dispatched.judge',
    type: null,
    outcome: 'done',
    queueMs: 0,
    handleMs: 0,
    ...observation,
  });
  return lines;
}

describe('the log line of a dead letter', () => {
  it('names run, reason and attempts', () => {
    const dead = { reason: 'killed_process', attempts: 3, runId: 'run_1' } as const;
    expect(errorOf({ outcome: 'dead', type: 'TaskDispatched', dead })).toEqual([
      expect.objectContaining({ message: 'A record became a dead letter.', run: 'run_1', reason: 'killed_process', attempts: 3 }),
    ]);
  });

  it('cuts what a record that is not ours names as its run', () => {
    const dead = { reason: 'undecodable', attempts: 1, runId: 'x'.repeat(5_000) } as const;
    expect(errorOf({ outcome: 'dead', dead })).toEqual([expect.objectContaining({ run: 'x'.repeat(100), type: 'undecodable' })]);
  });
});
