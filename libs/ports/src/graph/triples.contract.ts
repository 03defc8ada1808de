import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { GraphUnderTest, GraphWorld } from './graph-world.js';
import type { Triple, TripleWrite } from './graph.js';

export const triple = (said: string, confidence = 0.8, types: readonly [string, string] = ['', '']): Triple => {
  const [subject, relation, object] = said.split(' | ') as [string, Triple['relation'], string];
  return { subject, subjectType: types[0], relation, object, objectType: types[1], confidence };
};

let events = 0;
export const writing = (triples: readonly (string | Triple)[], more: Partial<Omit<TripleWrite, 'triples'>> = {}): TripleWrite => ({
  tenant: 'acme',
  eventId: `event-${(events += 1)}`,
  runId: 'run_00000001',
  source: 'answer',
  triples: triples.map((one) => (typeof one === 'string' ? triple(one) : one)),
  domain: 'general',
  at: 1_700_000_000_000,
  ...more,
});

/** Names that break out of statements, search expressions, keys or limits unless they are treated as data. */
export const hostileNames: readonly string[] = [
  "'} ) DETACH DELETE n //",
  '`]->(x) SET x.tenant = "zeta" //',
  '+ - && || ! ( ) { } [ ] ^ " ~ * ? : \\ /',
  "'; DROP TABLE graph_entity; --",
  '__proto__',
  'constructor',
  '$tenant',
  '%_%',
  'Straße in Zürich',
  '量子力学',
  'שלום עולם',
  '😀👩‍👩‍👧',
  'n'.repeat(200),
];

/** Promises of `addTriples`, the quarantine and `adjustTrust`. */
export function describeTriples({ open }: GraphUnderTest): void {
  describe('learns triples and', () => {
    let world: GraphWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.dispose());
    const add = (triples: readonly (string | Triple)[], more: Partial<Omit<TripleWrite, 'triples'>> = {}) =>
      world.graph.addTriples(writing(triples, more));
    const about = async (terms: readonly string[], tenant = 'acme') =>
      (await world.graph.retrieve({ tenant, terms, categories: [], limit: 50, maxCharacters: 100_000 })).relations;
    const trust = async (term: string, tenant = 'acme') => (await about([term], tenant)).map((relation) => relation.trust);
    const waiting = (tenant = 'acme') => world.graph.quarantine({ tenant, limit: 10 });

    it('adds them with a trust of confidence times source weight, and every process reads them', async () => {
      expect(await add(['Aspirin | TREATS | Headache'])).toEqual({ added: 1, confirmed: 0, refused: 0, quarantined: [] });
      const other = await world.another();
      expect(await other.retrieve({ tenant: 'acme', terms: ['aspirin'], categories: [], limit: 5, maxCharacters: 999 })).toEqual({
        entities: [
          { name: 'Aspirin', type: '', hops: 0 },
          { name: 'Headache', type: '', hops: 1 },
        ],
        relations: [{ subject: 'Aspirin', relation: 'TREATS', object: 'Headache', trust: 0.48, source: 'answer', hops: 1 }],
        syntheses: [],
      });
      expect(await other.stats('acme')).toEqual({ entities: 2, relations: 1, flagged: 0, syntheses: 0, quarantined: 0 });
    });

    it('returns the same answer and changes nothing for a repeated event, also from elsewhere and with other words', async () => {
      const write = writing(['A1 | USES | B1', 'B1 | PART_OF | A1', 'A1 | PART_OF | B1']);
      const other = await world.another();
      const [one, two] = await Promise.all([world.graph.addTriples(write), other.addTriples(write)]);
      expect(one).toEqual(two);
      expect(one).toMatchObject({ added: 2, quarantined: [{ reason: 'inverse' }] });
      expect(await other.addTriples({ ...write, triples: [triple('X1 | USES | Y1')] })).toEqual(one);
      expect(await world.graph.stats('acme')).toMatchObject({ entities: 2, relations: 2, quarantined: 1 });
      expect(await trust('A1')).toEqual([0.48, 0.48]);
    });

    it('confirms what another run says too, once for each run', async () => {
      await add(['Aspirin | TREATS | Headache']);
      expect(await add(['aspirin | TREATS | HEADACHE'], { runId: 'run_00000002' })).toMatchObject({ added: 0, confirmed: 1 });
      // 1 - 0.52 x 0.52
      expect(await trust('Aspirin')).toEqual([0.7296]);
      expect(await add(['Aspirin | TREATS | Headache'], { runId: 'run_00000002' })).toMatchObject({ added: 0, confirmed: 0 });
      expect(await trust('Aspirin')).toEqual([0.7296]);
      expect(await about(['Aspirin'])).toMatchObject([{ subject: 'Aspirin', object: 'Headache' }]);
    });

    it('takes a symmetric relation the other way round for the same one', async () => {
      await add(['Iron | INTERACTS_WITH | Oxygen']);
      expect(await add(['Oxygen | INTERACTS_WITH | Iron'], { runId: 'run_00000002' })).toMatchObject({ added: 0, confirmed: 1 });
    });

    it('loses nothing when many runs say the same at the same time', async () => {
      const other = await world.another();
      const runs = Array.from({ length: 8 }, (_, n) => `run_1000000${n}`);
      const answers = await Promise.all(
        runs.map((runId, n) => (n % 2 ? other : world.graph).addTriples(writing([triple('Tin | PART_OF | Bronze', 0.1)], { runId }))),
      );
      expect(answers.map(({ added }) => added).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
      expect(await trust('Tin')).toEqual([Math.round((1 - 0.94 ** 8) * 10_000) / 10_000]);
    });

    it('refuses invalid triples, and says how many', async () => {
      const bad: Triple[] = [
        triple(' | USES | B'),
        triple('A | USES | a '),
        triple(`${'n'.repeat(10_240)} | USES | B`),
        triple('A | USES | B', 0),
        triple('A | USES | B', Number.NaN),
        triple('A | USES | B', 1.5),
        { ...triple('A | USES | B'), relation: 'USES]->(x) DETACH DELETE x //' as Triple['relation'] },
        { ...triple('A | USES | B'), relation: 'constructor' as Triple['relation'] },
      ];
      expect(await add(bad)).toEqual({ added: 0, confirmed: 0, refused: bad.length, quarantined: [] });
      expect(await world.graph.stats('acme')).toMatchObject({ entities: 0, relations: 0 });
    });

    it.each([
      ['opposed', 'Ibuprofen | TREATS | Ulcer', 'Ibuprofen | CAUSES | Ulcer'],
      ['opposed', 'Ibuprofen | TREATS | Ulcer', 'Ibuprofen | CONTRAINDICATES | Ulcer'],
      ['opposed', 'Ibuprofen | CONTRAINDICATES | Ulcer', 'Ibuprofen | TREATS | Ulcer'],
      ['inverse', 'Wheel | PART_OF | Car', 'Car | PART_OF | Wheel'],
      ['replaced', 'France | HAS_CAPITAL | Paris', 'France | HAS_CAPITAL | Lyon'],
    ] as const)('puts a contradiction (%s) into the quarantine: %s, then %s', async (reason, first, second) => {
      await add([first]);
      const added = await add([triple(second, 0.9, ['kind', 'other'])], { runId: 'run_00000002', at: 5, domain: 'd' });
      const { subject, relation, object } = triple(second);
      const entry = {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        subject,
        subjectType: 'kind',
        relation,
        object,
        objectType: 'other',
        confidence: 0.9,
        source: 'answer',
        domain: 'd',
        reason,
        contradicts: [expect.any(String)],
        runs: ['run_00000002'],
        at: 5,
        state: 'open',
        decidedBy: null,
        decidedAt: null,
      };
      expect(added).toEqual({ added: 0, confirmed: 0, refused: 0, quarantined: [entry] });
      expect(await waiting()).toEqual([entry]);
      expect(await about([subject])).toHaveLength(1);
      expect(await about([subject])).toMatchObject([triple(first).subject === subject ? { relation: triple(first).relation } : {}]);
    });

    it('sees no contradiction where none is', async () => {
      await add(['France | HAS_CAPITAL | Paris', 'Spain | HAS_CAPITAL | Madrid', 'Curie | BORN_ON | 1867']);
      const more = ['Curie | BORN_ON | 1867-11-07', 'France | USES | Lyon', 'Paris | TREATS | Madrid', 'Madrid | CAUSES | Paris'];
      expect(await add(more)).toMatchObject({ added: more.length, quarantined: [] });
    });

    it('lists one entry for what several runs say, newest first and bounded', async () => {
      await add(['France | HAS_CAPITAL | Paris']);
      await add(['France | HAS_CAPITAL | Lyon'], { runId: 'run_00000002', at: 10 });
      await add(['France | HAS_CAPITAL | Lille'], { runId: 'run_00000002', at: 20 });
      await add(['France | HAS_CAPITAL | Lyon'], { runId: 'run_00000003', at: 30 });
      expect(await waiting()).toMatchObject([{ object: 'Lille' }, { object: 'Lyon', runs: ['run_00000002', 'run_00000003'] }]);
      expect(await world.graph.quarantine({ tenant: 'acme', limit: 1 })).toMatchObject([{ object: 'Lille' }]);
      expect(await waiting('zeta')).toEqual([]);
    });

    it('makes an accepted contradiction a verified relation and flags the relations it contradicts', async () => {
      await add(['France | HAS_CAPITAL | Paris', 'Paris | LOCATED_IN | Europe']);
      const { id } = (await add(['France | HAS_CAPITAL | Lyon'], { runId: 'run_00000002' })).quarantined[0]!;
      const decision = { tenant: 'acme', id, accept: true, actor: 'ann', at: 99 };
      expect(await world.graph.decideQuarantine(decision)).toMatchObject({ id, state: 'accepted', decidedBy: 'ann', decidedAt: 99 });
      expect(await about(['France'])).toMatchObject([{ object: 'Lyon', hops: 1 }]);
      expect(await waiting()).toEqual([]);
      expect(await world.graph.stats('acme')).toMatchObject({ entities: 4, relations: 3, flagged: 1, quarantined: 0 });
      // The first decision is final, and an accepted relation can be confirmed.
      expect(await world.graph.decideQuarantine({ ...decision, accept: false, actor: 'bob' })).toMatchObject({ decidedBy: 'ann' });
      expect(await add(['France | HAS_CAPITAL | Lyon'], { runId: 'run_00000003' })).toMatchObject({ confirmed: 1, quarantined: [] });
      expect(await world.graph.adjustTrust({ tenant: 'acme', runId: 'run_00000002', eventId: 'r', positive: true })).toMatchObject({
        relations: 1,
      });
    });

    it('refuses a rejected relation from then on, keeps it listed as rejected, and does not change the rest', async () => {
      await add(['France | HAS_CAPITAL | Paris']);
      const { id } = (await add(['France | HAS_CAPITAL | Lyon'], { runId: 'run_00000002' })).quarantined[0]!;
      const decision = { tenant: 'acme', id, accept: false, actor: 'ann', at: 99 };
      expect(await world.graph.decideQuarantine({ ...decision, tenant: 'zeta' })).toBeNull();
      expect(await world.graph.decideQuarantine({ ...decision, id: 'unknown' })).toBeNull();
      expect(await world.graph.decideQuarantine(decision)).toMatchObject({ state: 'rejected' });
      expect(await add(['France | HAS_CAPITAL | Lyon'], { runId: 'run_00000003' })).toMatchObject({ refused: 1, quarantined: [] });
      expect(await world.graph.quarantine({ tenant: 'acme', limit: 5, state: 'rejected' })).toMatchObject([{ id }]);
      expect(await about(['France'])).toMatchObject([{ object: 'Paris' }]);
    });

    it('raises the trust of what a well rated run taught, lowers and flags that of a badly rated one, each once', async () => {
      await add(['Zinc | PART_OF | Brass'], { runId: 'run_00000001' });
      await add(['Lead | PART_OF | Solder'], { runId: 'run_00000002' });
      const rate = (runId: string, positive: boolean, eventId: string) =>
        world.graph.adjustTrust({ tenant: 'acme', runId, positive, eventId });
      for (let again = 0; again < 2; again += 1) expect(await rate('run_00000001', true, 'e1')).toEqual({ relations: 1, syntheses: 0 });
      // 1 - 0.52 x 0.75
      expect(await trust('Zinc')).toEqual([0.61]);
      for (let again = 0; again < 2; again += 1) await rate('run_00000002', false, 'e2');
      expect(await about(['Lead'])).toEqual([]);
      expect(await world.graph.stats('acme')).toMatchObject({ relations: 2, flagged: 1 });
      // A good rating of another run that states the same restores it.
      await add(['Lead | PART_OF | Solder'], { runId: 'run_00000003' });
      await rate('run_00000003', true, 'e3');
      expect(await trust('Lead')).toEqual([Math.round((1 - 0.52 * 0.52 * 0.75) * 0.5 * 10_000) / 10_000]);
    });

    it('computes the same trust if the rating arrives before what the run taught', async () => {
      const rate = (positive: boolean, eventId: string) =>
        world.graph.adjustTrust({ tenant: 'acme', runId: 'run_00000001', positive, eventId });
      expect(await rate(true, 'e1')).toEqual({ relations: 0, syntheses: 0 });
      await add(['Zinc | PART_OF | Brass']);
      expect(await trust('Zinc')).toEqual([0.61]);
      await rate(false, 'e2');
      await rate(false, 'e3');
      await world.graph.addSynthesis({
        tenant: 'acme',
        runId: 'run_00000001',
        insight: { summary: 'Zinc is good.', entities: ['Zinc'], insight_type: 'inference' },
        domain: 'd',
        confidence: 0.9,
        at: 1,
      });
      expect(await world.graph.synthesesAbout({ tenant: 'acme', entities: ['Zinc'], limit: 5 })).toEqual([]);
    });

    it('keeps tenants apart in every question and every write', async () => {
      await add(['France | HAS_CAPITAL | Paris']);
      expect(await add(['France | HAS_CAPITAL | Lyon'], { tenant: 'zeta' })).toMatchObject({ added: 1, quarantined: [] });
      expect(await add(['France | HAS_CAPITAL | Nice'], { tenant: '' })).toMatchObject({ added: 1 });
      await world.graph.adjustTrust({ tenant: 'zeta', runId: 'run_00000001', eventId: 'r', positive: false });
      expect(await about(['France'])).toMatchObject([{ object: 'Paris' }]);
      expect(await about(['France'], 'zeta')).toEqual([]);
      expect(await about(['France'], 'acme zeta')).toEqual([]);
      expect(await world.graph.stats('zeta')).toMatchObject({ relations: 1, flagged: 1 });
    });

    it('takes hostile names as names', async () => {
      const pairs = hostileNames.map((name, n) => triple(`${name} | USES | Thing ${n}`, 0.5, [name, name]));
      expect(await add(pairs, { domain: hostileNames[0]!, eventId: hostileNames[1]! })).toMatchObject({ added: pairs.length, refused: 0 });
      for (const [n, name] of hostileNames.entries())
        expect((await about([name]))[0]).toMatchObject({ subject: name, object: `Thing ${n}` });
      expect(await world.graph.stats('acme')).toMatchObject({ entities: 2 * pairs.length, relations: pairs.length });
      expect(await about(['x'.repeat(10_240), ''])).toEqual([]);
      expect(await add(['A\u0000B\u202e | USES | \ud800half'])).toMatchObject({ added: 1 });
      expect(await about(['a b'])).toMatchObject([{ subject: 'A B', object: 'half' }]);
    });

    it('says GRAPH_UNAVAILABLE once it is closed', async () => {
      const other = await world.another();
      await other.close();
      const away = { code: 'GRAPH_UNAVAILABLE' };
      await expect(other.addTriples(writing(['A | USES | B']))).rejects.toMatchObject(away);
      await expect(other.retrieve({ tenant: 'acme', terms: ['A'], categories: [], limit: 1, maxCharacters: 9 })).rejects.toMatchObject(
        away,
      );
      await expect(other.adjustTrust({ tenant: 'acme', runId: 'r', eventId: 'e', positive: true })).rejects.toMatchObject(away);
      await expect(other.quarantine({ tenant: 'acme', limit: 1 })).rejects.toMatchObject(away);
      await expect(other.decideQuarantine({ tenant: 'acme', id: 'x', accept: true, actor: 'a', at: 1 })).rejects.toMatchObject(away);
      await expect(other.stats('acme')).rejects.toMatchObject(away);
    });
  });
}
