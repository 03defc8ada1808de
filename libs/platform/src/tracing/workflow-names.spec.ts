import type { Event, PlanRequested } from '@conclave/contracts';
import { describe, expect, it } from '@jest/globals';
import { WorkflowNames } from './workflow-names.js';

const event = (type: string, runId = 'run_00000001', data: object = {}): Event =>
  ({ id: `${runId}/${type}`, type, runId, data }) as unknown as Event;

describe('the name of a workflow', () => {
  const world = (template: string | null | Error) => {
    const asked: string[] = [];
    const names = new WorkflowNames({
      header: async (runId) => {
        asked.push(runId);
        if (template instanceof Error) throw template;
        return template === null ? null : ({ data: { template: { id: template } } } as PlanRequested);
      },
    });
    return { names, asked };
  };

  it('is said by the request and by the end of a run, and known at once from then on', () => {
    const { names, asked } = world('other');
    expect(names.of(event('PlanRequested', 'run_00000001', { template: { id: 'conclave' } }))).toBe('conclave');
    expect(names.of(event('TaskDispatched'))).toBe('conclave');
    expect(names.of(event('RunCompleted', 'run_00000002', { template: { id: 'conclave-fast' } }))).toBe('conclave-fast');
    expect(asked).toEqual([]);
  });

  it('is read once if the request was not seen here', async () => {
    const { names, asked } = world('conclave');
    expect(await Promise.all([names.of(event('TaskDispatched')), names.of(event('TaskDispatched'))])).toEqual(['conclave', 'conclave']);
    expect(names.of(event('TaskDispatched'))).toBe('conclave');
    expect(asked).toEqual(['run_00000001']);
  });

  it('is null without a run, and while the store is unavailable, which is asked again later', async () => {
    expect(await world(null).names.of(event('KnowledgeProposed', 'doc_1'))).toBeNull();
    const away = world(new Error('away'));
    expect(await away.names.of(event('TaskDispatched'))).toBeNull();
    expect(await away.names.of(event('TaskDispatched'))).toBeNull();
    expect(away.asked).toHaveLength(2);
  });
});
