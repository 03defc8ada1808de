import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Source } from '@conclave/contracts';
import type { GraphUnderTest, GraphWorld } from './graph-world.js';
import { longestOriginAnswer, mostOriginSources, type SynthesisWrite } from './graph.js';

const summary = 'Copper conducts better than iron.';
const id = createHash('sha256').update(summary).digest('hex').slice(0, 16);
const page: Source = { kind: 'web', title: 'Metals', url: 'https://metals.example/copper', n: 1 };

/** What an insight was learned from, and how a rating of the answer affects it. */
export function describeProvenance({ open }: GraphUnderTest): void {
  describe('knows what an insight was learned from:', () => {
    let world: GraphWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.dispose());
    const learn = (runId: string, more: Partial<SynthesisWrite> = {}) =>
      world.graph.addSynthesis({
        tenant: 'acme',
        runId,
        insight: { summary, entities: ['Copper', 'Iron'], insight_type: 'comparison' },
        domain: 'materials',
        confidence: 0.9,
        at: 1_700_000_000_000,
        answer: `Copper, said ${runId}.`,
        sources: [page],
        ...more,
      });
    const known = (by: { id: string } | { runId: string }, tenant = 'acme') => world.graph.synthesis({ tenant, by });

    it('run, answer, sources and time, by its id and by its run, in every process', async () => {
      await learn('run_00000001');
      const record = {
        id,
        text: summary,
        insightType: 'comparison',
        domain: 'materials',
        confidence: 0.9,
        entities: ['Copper', 'Iron'],
        runs: ['run_00000001'],
        trust: 0.9,
        flagged: false,
        origins: [{ runId: 'run_00000001', at: 1_700_000_000_000, answer: 'Copper, said run_00000001.', sources: [page] }],
      };
      expect(await known({ id })).toEqual(record);
      expect(await (await world.another()).synthesis({ tenant: 'acme', by: { runId: 'run_00000001' } })).toEqual(record);
    });

    it('every run that taught it, the earliest first, each once', async () => {
      await learn('run_00000003', { at: 3 });
      await learn('run_00000001', { at: 9, sources: [] });
      await learn('run_00000002', { at: 3 });
      await learn('run_00000003', { at: 1, answer: 'Another answer.' });
      const { origins } = (await known({ runId: 'run_00000001' }))!;
      expect(origins.map(({ runId, at, sources }) => [runId, at, sources.length])).toEqual([
        ['run_00000002', 3, 1],
        ['run_00000003', 3, 1],
        ['run_00000001', 9, 0],
      ]);
      expect(origins[1]!.answer).toBe('Copper, said run_00000003.');
    });

    it('nothing of an answer that was not cached, and nothing of another tenant', async () => {
      await learn('run_00000001', { answer: null, sources: [] });
      expect((await known({ id }))!.origins).toEqual([{ runId: 'run_00000001', at: 1_700_000_000_000, answer: null, sources: [] }]);
      expect(await known({ id }, 'zeta')).toBeNull();
      expect(await known({ runId: 'run_00000001' }, 'zeta')).toBeNull();
      expect(await known({ runId: 'run_00000002' })).toBeNull();
      expect(await known({ id: '0000000000000000' })).toBeNull();
    });

    it('a bounded part of a long answer, and hostile words as words', async () => {
      const answer = `"}) DETACH DELETE s // \u0000 '; --${'😀'.repeat(longestOriginAnswer)}`;
      const hostile: Source = { kind: 'web', title: `$tenant "\\ \u0000 ')`, url: null };
      await learn('run_00000001', { answer, sources: Array.from({ length: 100 }, () => hostile) });
      const [origin] = (await known({ id }))!.origins;
      expect(origin!.answer!.length).toBeLessThanOrEqual(longestOriginAnswer);
      expect(answer.replace('\u0000', '').startsWith(origin!.answer!)).toBe(true);
      expect(Buffer.from(origin!.answer!).toString()).toBe(origin!.answer);
      expect(origin!.sources).toEqual(Array.from({ length: mostOriginSources }, () => hostile));
    });

    it('that it was rated badly: it is still explained, and no longer found', async () => {
      await learn('run_00000001');
      const found = () => world.graph.retrieve({ tenant: 'acme', terms: ['Copper'], categories: [], limit: 5, maxCharacters: 1_000 });
      expect((await found()).syntheses).toMatchObject([{ id, runs: ['run_00000001'], trust: 0.9 }]);
      await world.graph.adjustTrust({ tenant: 'acme', runId: 'run_00000001', eventId: 'bad', positive: false });
      expect(await known({ id })).toMatchObject({ flagged: true, trust: 0.45, runs: ['run_00000001'] });
      expect((await found()).syntheses).toEqual([]);
      await world.graph.adjustTrust({ tenant: 'acme', runId: 'run_00000001', eventId: 'good', positive: true });
      expect(await known({ id })).toMatchObject({ flagged: false });
      expect((await found()).syntheses).toMatchObject([{ id }]);
    });
  });
}
