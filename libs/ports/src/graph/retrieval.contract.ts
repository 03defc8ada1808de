import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { relationSentence } from '@conclave/contracts';
import type { GraphUnderTest, GraphWorld } from './graph-world.js';
import type { GraphQuery } from './graph.js';
import { triple, writing } from './triples.contract.js';

/** Promises of `retrieve`. Results are written out, so that every adapter returns the same in the same order. */
export function describeRetrieval({ open }: GraphUnderTest): void {
  describe('retrieves a context that', () => {
    let world: GraphWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.dispose());
    const add = (triples: Parameters<typeof writing>[0], more: Parameters<typeof writing>[1] = {}) =>
      world.graph.addTriples(writing(triples, more));
    const insight = (
      summary: string,
      entities: readonly string[],
      more: { runId?: string; tenant?: string; confidence?: number; domain?: string; at?: number } = {},
    ) =>
      world.graph.addSynthesis({
        tenant: 'acme',
        runId: `run ${summary}`,
        insight: { summary, entities: [...entities], insight_type: 'synthesis' },
        domain: 'general',
        confidence: 0.9,
        at: 1,
        ...more,
      });
    const ask = (terms: readonly string[], more: Partial<GraphQuery> = {}) =>
      world.graph.retrieve({ tenant: 'acme', terms, categories: [], limit: 50, maxCharacters: 100_000, ...more });
    const said = async (terms: readonly string[], more: Partial<GraphQuery> = {}) =>
      (await ask(terms, more)).relations.map((one) => `${one.hops} ${relationSentence(one)} ${one.trust}`);

    it('goes two hops, in both directions, and no further', async () => {
      await add(['B | USES | Root1', 'C | DEPENDS_ON | B', 'D | RUNS | C', 'Root1 | EXTENDS | E', 'F | EXTENDS | E', 'F | USES | G']);
      expect((await said(['root1'])).sort()).toEqual([
        '1 B uses Root1 0.48',
        '1 Root1 extends E 0.48',
        '2 C depends on B 0.48',
        '2 F extends E 0.48',
      ]);
    });

    it('ranks by trust times relevance: hops, exact names, two entities of the question and domains count', async () => {
      await add([triple('Copper wire | USES | Copper', 0.5), triple('Copper | PART_OF | Brass', 0.9), triple('Brass | USES | Zinc', 1)]);
      await add([triple('Brass | AFFECTS | Sound', 0.6)], { domain: 'music' });
      expect(await said(['Copper'])).toEqual([
        '1 Copper is part of Brass 0.54',
        '1 Copper wire uses Copper 0.3',
        '2 Brass uses Zinc 0.6',
        '2 Brass affects Sound 0.36',
      ]);
      expect((await said(['Copper'], { categories: ['music'] })).at(-1)).toBe('2 Brass affects Sound 0.36');
      expect((await said(['Zinc', 'Brass']))[0]).toBe('1 Brass uses Zinc 0.6');
      expect((await said(['Brass'], { categories: ['music'] })).indexOf('1 Brass affects Sound 0.36')).toBe(2);
    });

    it('breaks ties the same way everywhere', async () => {
      const names = ['Oak', 'Elm', 'Ash', 'Yew', 'Fir'];
      await add(names.map((name) => `${name} | IS_A | Tree`));
      const first = await said(['tree']);
      expect(first).toEqual([
        '1 Elm is a Tree 0.48',
        '1 Fir is a Tree 0.48',
        '1 Ash is a Tree 0.48',
        '1 Yew is a Tree 0.48',
        '1 Oak is a Tree 0.48',
      ]);
      expect(await said(['tree'], { limit: 2 })).toEqual(first.slice(0, 2));
    });

    it('finds entities by alias, and by words if no name matches the term', async () => {
      await add(['World Health Organization (WHO) | REGULATES | Vaccines', 'Mercury (planet) | IS_A | Planet']);
      for (const term of ['who', 'World Health Organization', 'health organizations', 'vaccine'])
        expect(await said([term])).toEqual(['1 World Health Organization regulates Vaccines 0.48']);
      expect(await said(['World Health Organization (WHO)'])).toHaveLength(1);
      // One word of three is too little, and a filler does not count.
      expect(await said(['health'])).toEqual([]);
      expect(await said(['mercury'])).toEqual(['1 Mercury (planet) is a Planet 0.48']);
      const both = await ask(['planet']);
      expect(both.entities.slice(0, 2).map(({ name, hops }) => [name, hops])).toEqual([
        ['Planet', 0],
        ['Mercury (planet)', 0],
      ]);
    });

    it('takes no notice of a word that too many entities share', async () => {
      await add(Array.from({ length: 250 }, (_, n) => `System a${n} | USES | System b${n}`));
      expect((await ask(['system'])).entities.filter(({ hops }) => hops === 0)).toHaveLength(20);
      await add(['System c | USES | Rare thing']);
      expect(await said(['system'])).toEqual([]);
      expect(await said(['rare system'])).toEqual(['1 System c uses Rare thing 0.48']);
      expect(await said(['SYSTEM C'])).toEqual(['1 System c uses Rare thing 0.48']);
    });

    it('includes syntheses of every entity reached, with their distance and trust', async () => {
      await add(['Aurora Bridge | CREATED_BY | Ana Bel', 'Ana Bel | LOCATED_IN | Corin']);
      await insight('Ana Bel built bridges of steel.', ['Ana Bel'], { runId: 'run_00000007', at: 7 });
      await insight('Corin floods every spring.', ['Corin']);
      await insight('The bridge is the oldest of its kind.', ['Aurora  bridge', 'Steel'], { confidence: 0.6 });
      await insight('Tin melts early.', ['Tin']);
      const { syntheses } = await ask(['Aurora Bridge']);
      expect(syntheses).toEqual([
        {
          id: expect.any(String),
          text: 'The bridge is the oldest of its kind.',
          insightType: 'synthesis',
          domain: 'general',
          confidence: 0.6,
          entities: ['Aurora Bridge', 'Steel'],
          runs: ['run The bridge is the oldest of its kind.'],
          trust: 0.6,
          hops: 0,
        },
        expect.objectContaining({ text: 'Ana Bel built bridges of steel.', hops: 1, runs: ['run_00000007'], trust: 0.9 }),
        expect.objectContaining({ text: 'Corin floods every spring.', hops: 2 }),
      ]);
      expect((await ask(['steel'])).syntheses).toHaveLength(1);
    });

    it('links a synthesis to entities that only later become known by relations, and the other way round', async () => {
      await insight('Gold does not rust.', ['Gold']);
      await add(['Gold | USES | Jewellery', 'Silver | USES | Jewellery']);
      await insight('Silver tarnishes.', ['Silver']);
      expect((await ask(['Jewellery'])).syntheses.map(({ text }) => text).sort()).toEqual(['Gold does not rust.', 'Silver tarnishes.']);
    });

    it('leaves out flagged relations, also on the way', async () => {
      await add(['Root2 | USES | Bad'], { runId: 'run_bad' });
      await add(['Bad | USES | Behind', 'Root2 | USES | Fine']);
      await insight('Root2 is bad.', ['Root2'], { runId: 'run_bad' });
      expect(await world.graph.adjustTrust({ tenant: 'acme', runId: 'run_bad', eventId: 'e', positive: false })).toEqual({
        relations: 1,
        syntheses: 1,
      });
      expect(await said(['Root2'])).toEqual(['1 Root2 uses Fine 0.48']);
      expect((await ask(['Root2'])).syntheses).toEqual([]);
    });

    it('never crosses a tenant, at no hop', async () => {
      await add(['Alpha | USES | Beta']);
      await add(['Beta | USES | Secret', 'Alpha | USES | Hidden'], { tenant: 'zeta' });
      await add(['Alpha | USES | Public'], { tenant: '' });
      await insight('Beta is secret.', ['Beta'], { tenant: 'zeta' });
      expect(await ask(['Alpha', 'Secret', 'Public'])).toEqual({
        entities: [
          { name: 'Alpha', type: '', hops: 0 },
          { name: 'Beta', type: '', hops: 1 },
        ],
        relations: [{ subject: 'Alpha', relation: 'USES', object: 'Beta', trust: 0.48, source: 'answer', hops: 1 }],
        syntheses: [],
      });
      expect(await said(['Alpha'], { tenant: 'nobody' })).toEqual([]);
    });

    it('keeps its limits, and the best of what fits', async () => {
      await add(Array.from({ length: 30 }, (_, n) => triple(`Hub | USES | Part ${String(n).padStart(2, '0')}`, (n + 1) / 40)));
      for (let n = 0; n < 4; n += 1) await insight(`Hub insight ${n}.`, ['Hub'], { at: n });
      const all = await ask(['Hub']);
      expect([all.relations.length, all.syntheses.length]).toEqual([30, 4]);
      const few = await ask(['Hub'], { limit: 3 });
      expect(few.relations).toEqual(all.relations.slice(0, 3));
      expect(few.syntheses).toEqual(all.syntheses.slice(0, 3));
      const { relations, syntheses } = await ask(['Hub'], { maxCharacters: 80 });
      const length = [...relations.map(relationSentence), ...syntheses.map(({ text }) => text)].join('').length;
      expect(length).toBeLessThanOrEqual(80);
      expect(length).toBeGreaterThan(60);
      expect(await ask(['Hub'], { maxCharacters: 0 })).toEqual({ entities: [], relations: [], syntheses: [] });
      expect(await ask([])).toEqual({ entities: [], relations: [], syntheses: [] });
    });

    it('accepts types and aliases that arrive later, and keeps the first name', async () => {
      await insight('IBM is old.', ['International Business Machines']);
      await add([triple('international business machines (IBM) | CREATED_BY | Hollerith', 0.8, ['company', 'person'])]);
      await add([triple('International Business Machines | USES | Power', 0.8, ['firm', ''])]);
      const { entities, syntheses } = await ask(['ibm']);
      expect(entities[0]).toEqual({ name: 'International Business Machines', type: 'company', hops: 0 });
      expect(entities).toContainEqual({ name: 'Hollerith', type: 'person', hops: 1 });
      expect(syntheses).toHaveLength(1);
    });
  });
}
