import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { GraphUnderTest, GraphWorld } from './graph-world.js';
import type { TripleWrite } from './graph.js';
import { writing } from './triples.contract.js';

const [one, other] = ['run_00000001', 'run_00000002'];

/** What is left of a run that was deleted. */
export function describeForgetting({ open }: GraphUnderTest): void {
  describe('forgets a run:', () => {
    let world: GraphWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.dispose());
    const add = (triples: readonly string[], runId: string, more: Partial<TripleWrite> = {}) =>
      world.graph.addTriples({ ...writing(triples, { runId, ...more }), eventId: `${runId}/completed` });
    const learn = (summary: string, entities: readonly string[], runId: string, tenant = 'acme') =>
      world.graph.addSynthesis({
        ...{ tenant, runId, insight: { summary, entities: [...entities], insight_type: 'inference' }, domain: 'general' },
        ...{ confidence: 0.9, at: 1, answer: `As ${runId} says.` },
      });
    const forget = (runId: string, tenant = 'acme') => world.graph.forget({ tenant, runId });
    const found = async (term: string, tenant = 'acme') => {
      const read = await world.graph.retrieve({ tenant, terms: [term], categories: [], limit: 50, maxCharacters: 100_000 });
      return {
        relations: read.relations.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`).sort(),
        syntheses: read.syntheses.map(({ text, runs }) => [text, runs]),
      };
    };

    it('removes what only this run taught, including entities that nothing else mentions, in every process', async () => {
      await add(['Aspirin | TREATS | Headache', 'Willow | USES | Salicin'], one);
      await learn('Willow bark is old.', ['Willow', 'Bark'], one);
      await add(['Aspirin | TREATS | Fever'], other);
      expect(await forget(one)).toEqual({ relations: 2, syntheses: 1 });
      const elsewhere = await world.another();
      expect(await elsewhere.stats('acme')).toEqual({ entities: 2, relations: 1, flagged: 0, syntheses: 0, quarantined: 0 });
      expect((await elsewhere.entities({ tenant: 'acme', search: '', after: '', limit: 10 })).map(({ name }) => name)).toEqual([
        'Aspirin',
        'Fever',
      ]);
      expect(await found('Willow')).toEqual({ relations: [], syntheses: [] });
      expect(await found('Aspirin')).toEqual({ relations: ['Aspirin TREATS Fever'], syntheses: [] });
      expect(await world.graph.synthesis({ tenant: 'acme', by: { runId: one } })).toBeNull();
    });

    it('what another run states too stays, without this run among its origins', async () => {
      for (const run of [one, other]) {
        await add(['Aspirin | TREATS | Headache'], run);
        await learn('Aspirin is about pain.', ['Aspirin', 'Pain'], run);
      }
      expect(await forget(one)).toEqual({ relations: 0, syntheses: 0 });
      expect(await found('Aspirin')).toEqual({
        relations: ['Aspirin TREATS Headache'],
        syntheses: [['Aspirin is about pain.', [other]]],
      });
      const known = await world.graph.synthesis({ tenant: 'acme', by: { runId: other } });
      expect(known!.origins.map(({ runId, answer }) => [runId, answer])).toEqual([[other, `As ${other} says.`]]);
      expect(await forget(other)).toEqual({ relations: 1, syntheses: 1 });
      expect(await world.graph.stats('acme')).toEqual({ entities: 0, relations: 0, flagged: 0, syntheses: 0, quarantined: 0 });
    });

    it('its ratings count no longer', async () => {
      for (const run of [one, other]) {
        await add(['Aspirin | TREATS | Headache'], run);
        await learn('Aspirin is about pain.', ['Aspirin'], run);
      }
      await world.graph.adjustTrust({ tenant: 'acme', runId: one, eventId: 'bad', positive: false });
      expect(await found('Aspirin')).toEqual({ relations: [], syntheses: [] });
      await forget(one);
      expect(await found('Aspirin')).toEqual({
        relations: ['Aspirin TREATS Headache'],
        syntheses: [['Aspirin is about pain.', [other]]],
      });
    });

    it('a contradiction goes with the last run that stated it, and quotes nothing that is gone', async () => {
      await add(['Ann | CAUSES | Flood', 'Ice | TREATS | Burn'], one);
      await add(['Ann | PREVENTS | Flood', 'Ice | CAUSES | Burn'], other);
      const before = await world.graph.quarantine({ tenant: 'acme', limit: 10 });
      expect(before.length).toBeGreaterThan(0);
      await forget(one);
      const quoted = (await world.graph.quarantine({ tenant: 'acme', limit: 10 })).flatMap(({ contradicts }) => contradicts);
      expect(quoted).toEqual([]);
      await forget(other);
      expect(await world.graph.stats('acme')).toEqual({ entities: 0, relations: 0, flagged: 0, syntheses: 0, quarantined: 0 });
    });

    it('a repeat changes nothing, nor does a run that taught nothing, and other tenants keep what they have', async () => {
      for (const tenant of ['acme', 'zeta']) {
        await add(['Aspirin | TREATS | Headache'], one, { tenant });
        await learn('Aspirin is about pain.', ['Aspirin'], one, tenant);
      }
      expect(await forget('run_00000009')).toEqual({ relations: 0, syntheses: 0 });
      await forget(one);
      expect(await forget(one)).toEqual({ relations: 0, syntheses: 0 });
      expect(await world.graph.stats('acme')).toMatchObject({ entities: 0, relations: 0, syntheses: 0 });
      expect(await found('Aspirin', 'zeta')).toEqual({
        relations: ['Aspirin TREATS Headache'],
        syntheses: [['Aspirin is about pain.', [one]]],
      });
    });
  });
}
