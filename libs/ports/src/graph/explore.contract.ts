import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { GraphUnderTest, GraphWorld } from './graph-world.js';
import { triple, writing } from './triples.contract.js';

/** Promises of `entities` and `neighbours`. */
export function describeExploring({ open }: GraphUnderTest): void {
  describe('is explored', () => {
    let world: GraphWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.dispose());
    const names = async (query: { search?: string; after?: string; limit?: number; tenant?: string } = {}) =>
      (await world.graph.entities({ tenant: 'acme', search: '', after: '', limit: 10, ...query })).map(({ normal }) => normal);
    const near = (entity: string, more: { tenant?: string; offset?: number; limit?: number } = {}) =>
      world.graph.neighbours({ tenant: 'acme', entity, offset: 0, limit: 10, ...more });
    const teach = (summary: string, entities: string[], at: number) =>
      world.graph.addSynthesis({
        ...{ tenant: 'acme', runId: `run ${summary}`, domain: 'general', confidence: 0.9, at },
        insight: { summary, entities, insight_type: 'synthesis' },
      });

    it('by name: every entity once, in order, page by page, and those that contain a text', async () => {
      await teach('One.', ['Zinc', 'copper', 'Brass alloy', 'COPPER'], 1);
      await teach('Two.', ['Copper wire'], 2);
      expect(await names()).toEqual(['brass alloy', 'copper', 'copper wire', 'zinc']);
      expect(await names({ limit: 2 })).toEqual(['brass alloy', 'copper']);
      expect(await names({ limit: 2, after: 'copper' })).toEqual(['copper wire', 'zinc']);
      expect(await names({ search: 'opper' })).toEqual(['copper', 'copper wire']);
      expect(await names({ search: '%' })).toEqual([]);
      expect(await names({ search: 'opper', after: 'copper' })).toEqual(['copper wire']);
      expect(await names({ tenant: 'zeta' })).toEqual([]);
    });

    it('from an entity: its relations in both directions, the most trusted first, and its syntheses, newest first', async () => {
      await world.graph.addTriples(
        writing([triple('Copper | USES | Ore', 0.6), triple('Brass | USES | Copper', 0.9), triple('Brass | USES | Zinc')]),
      );
      await teach('Copper conducts.', ['Copper'], 1);
      await teach('Copper is red.', ['Copper', 'Colour'], 2);
      const found = await near('Copper');
      expect(found).toMatchObject({ entity: { normal: 'copper', name: 'Copper' }, more: false });
      expect(found!.relations.map(({ subjectName, relation, objectName }) => `${subjectName} ${relation} ${objectName}`)).toEqual([
        'Brass USES Copper',
        'Copper USES Ore',
      ]);
      expect(found!.syntheses.map(({ text, runs }) => [text, runs])).toEqual([
        ['Copper is red.', ['run Copper is red.']],
        ['Copper conducts.', ['run Copper conducts.']],
      ]);
      expect(await near('copper', { limit: 1 })).toMatchObject({ more: true, relations: [{ subjectName: 'Brass' }] });
      expect(await near('copper', { limit: 1, offset: 1 })).toMatchObject({ more: false, relations: [{ objectName: 'Ore' }] });
      expect(await near('Gold')).toBeNull();
      expect(await near('Copper', { tenant: 'zeta' })).toBeNull();
    });

    it('without badly rated content', async () => {
      await world.graph.addTriples(writing(['Copper | USES | Ore'], { runId: 'run_bad' }));
      await teach('Copper conducts.', ['Copper'], 1);
      for (const runId of ['run_bad', 'run Copper conducts.'])
        for (const eventId of ['a', 'b', 'c'])
          await world.graph.adjustTrust({ tenant: 'acme', runId, eventId: `${runId} ${eventId}`, positive: false });
      expect(await near('Copper')).toMatchObject({ relations: [], syntheses: [] });
    });
  });
}
