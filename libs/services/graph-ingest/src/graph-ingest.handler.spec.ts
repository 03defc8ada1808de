import { describe, expect, it } from '@jest/globals';
import { Failure, type RunCompleted } from '@conclave/contracts';
import type { KnowledgeGraph } from '@conclave/ports';
import { GraphIngestHandler } from './graph-ingest.handler.js';

const completed = (data: Partial<RunCompleted['data']>): RunCompleted =>
  ({
    runId: 'run_00000001',
    data: {
      insight: { summary: 'A is B', entities: ['A', 'B'], insight_type: 'inference' },
      outcome: 'completed',
      rule: 'D3',
      caller: { tenant: 'default', actor: 'me' },
      completedAt: 5,
      ...data,
    },
  }) as RunCompleted;

function handlerOver(add: () => Promise<void>) {
  const written: unknown[] = [];
  const graph = { addSynthesis: (write: unknown) => (written.push(write), add()) } as unknown as KnowledgeGraph;
  return { handler: new GraphIngestHandler(graph), written };
}

describe('graph ingest', () => {
  it('writes an insight with more trust where the answer was assessed as complete', async () => {
    const { handler, written } = handlerOver(() => Promise.resolve());
    expect(await handler.onCompleted(completed({}))).toEqual([]);
    await handler.onCompleted(completed({ rule: 'D6' }));
    expect(written).toMatchObject([{ tenant: 'default', runId: 'run_00000001', confidence: 0.9, at: 5 }, { confidence: 0.6 }]);
  });

  it.each([{ insight: null }, { outcome: 'cancelled' as const }, { outcome: 'failed' as const }])('writes nothing for %j', async (data) => {
    const { handler, written } = handlerOver(() => Promise.resolve());
    expect(await handler.onCompleted(completed(data))).toEqual([]);
    expect(written).toEqual([]);
  });

  it('waits in the log while the graph is away, and leaves every other error to the log', async () => {
    const away = handlerOver(() => Promise.reject(new Failure('GRAPH_UNAVAILABLE')));
    expect(await away.handler.onCompleted(completed({}))).toEqual({ deferMs: expect.any(Number) });
    const broken = handlerOver(() => Promise.reject(new TypeError('a bug')));
    await expect(broken.handler.onCompleted(completed({}))).rejects.toThrow('a bug');
  });
});
