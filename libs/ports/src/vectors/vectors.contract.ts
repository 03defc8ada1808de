import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { cosineDistance, vectorLimits } from './records.js';
import type { VectorMetadata, VectorRecord, Vectors } from './vectors.js';

export interface VectorsWorld {
  readonly vectors: Vectors;
  /** The same store, opened by another process. */
  another(): Promise<Vectors>;
  dispose(): Promise<void>;
}

export interface VectorsUnderTest {
  /** An empty store. */
  open(): Promise<VectorsWorld>;
  /** Number of records in the test that writes many. */
  readonly many?: number;
}

const scope = { tenant: 'acme', collection: 'facts' };
const vectorOf = (...numbers: readonly number[]): Float32Array => Float32Array.from(numbers);
const record = (id: string, numbers: readonly number[], more: Partial<VectorRecord> = {}): VectorRecord => ({
  id,
  vector: vectorOf(...numbers),
  text: `text of ${id}`,
  metadata: {},
  ...more,
});

/** Reproducible pseudo-random numbers: linear congruential (Numerical Recipes). */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32 - 0.5;
}

/** Every promise of `Vectors`; each test gets an empty store. */
export function describeVectors(name: string, { open, many = 6_000 }: VectorsUnderTest): void {
  describe(`${name} keeps vectors and`, () => {
    let world: VectorsWorld;
    let vectors: Vectors;
    beforeEach(async () => {
      world = await open();
      vectors = world.vectors;
    });
    afterEach(() => world.dispose());

    const filled = async (...records: readonly VectorRecord[]): Promise<void> => {
      await vectors.create(scope, 3);
      await vectors.upsert(scope, records);
    };
    const ask = (at: readonly number[], where: VectorMetadata = {}, limit = 10) =>
      vectors.query(scope, { vector: vectorOf(...at), limit, where });
    const idsOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).hits.map(({ id }) => id);

    it('finds what another process stored, nearest first, by cosine and not by length', async () => {
      const metadata = { domain: 'law', year: 2024, ratio: 0.25, checked: true };
      await filled(
        record('far', [0, 9, 0]),
        record('same', [0.001, 0, 0], { metadata }),
        record('near', [1, 0.5, 0]),
        record('back', [-3, 0, 0]),
      );
      const other = await world.another();
      const { hits, unknownKeys } = await other.query(scope, { vector: vectorOf(2, 0, 0), limit: 10 });
      expect(hits.map(({ id }) => id)).toEqual(['same', 'near', 'far', 'back']);
      expect(hits[0]).toEqual({ id: 'same', text: 'text of same', metadata, distance: hits[0]!.distance });
      const expected = [0, 1 - 1 / Math.sqrt(1.25), 1, 2];
      hits.forEach(({ distance }, at) => expect(Math.abs(distance - expected[at]!)).toBeLessThan(1e-5));
      expect(unknownKeys).toEqual([]);
    });

    it('returns distances of 0 to 2, also if rounding leads below', async () => {
      const next = numbers(7);
      const some = Array.from({ length: 40 }, (_, n) => record(`r${n}`, [next(), next(), next()]));
      await filled(...some);
      for (const { id, vector } of some) {
        const hits = (await vectors.query(scope, { vector, limit: 40 })).hits;
        expect(hits).toHaveLength(40);
        expect(hits.every(({ distance }) => distance >= 0 && distance <= 2)).toBe(true);
        expect(hits.find((hit) => hit.id === id)!.distance).toBeLessThan(1e-5);
      }
    });

    it('orders equal distances by id and returns no more than requested', async () => {
      await filled(record('c', [1, 0, 0]), record('a', [1, 0, 0]), record('b', [1, 0, 0]));
      expect(await idsOf([1, 0, 0])).toEqual(['a', 'b', 'c']);
      expect(await idsOf([1, 0, 0], {}, 1)).toHaveLength(1);
      expect(await idsOf([1, 0, 0], {}, 0)).toEqual([]);
      expect(await idsOf([1, 0, 0], {}, -3)).toEqual([]);
      expect(await idsOf([1, 0, 0], {}, 1e9)).toHaveLength(3);
    });

    it('replaces a whole record, and changes nothing if the same is written again', async () => {
      await filled(record('one', [1, 0, 0], { text: 'old', metadata: { a: 1, b: 'x' } }));
      const next = record('one', [0, 1, 0], { text: 'new', metadata: { b: 'y' } });
      await vectors.upsert(scope, [next]);
      await vectors.upsert(scope, [next]);
      expect(await vectors.count(scope)).toBe(1);
      expect(await vectors.get(scope, ['one'])).toEqual([next]);
      expect((await ask([0, 1, 0], { a: 1 })).unknownKeys).toEqual(['a']);
      expect(await idsOf([0, 1, 0], { b: 'x' })).toEqual([]);
      expect(await idsOf([0, 1, 0], { b: 'y' })).toEqual(['one']);
    });

    it('keeps the last of several records with one id', async () => {
      await filled(record('one', [1, 0, 0], { metadata: { a: 1 } }), record('one', [0, 1, 0], { text: 'last' }));
      expect(await vectors.get(scope, ['one'])).toEqual([record('one', [0, 1, 0], { text: 'last' })]);
    });

    it('filters by every value of where, and distinguishes types', async () => {
      await filled(
        record('int', [1, 0, 0], { metadata: { v: 1, lang: 'de' } }),
        record('text', [1, 0, 0], { metadata: { v: '1', lang: 'de' } }),
        record('flag', [1, 0, 0], { metadata: { v: true, lang: 'en' } }),
        record('half', [1, 0, 0], { metadata: { v: 1.5, lang: 'en' } }),
        record('none', [1, 0, 0]),
      );
      expect(await idsOf([1, 0, 0], { v: 1 })).toEqual(['int']);
      expect(await idsOf([1, 0, 0], { v: '1' })).toEqual(['text']);
      expect(await idsOf([1, 0, 0], { v: true })).toEqual(['flag']);
      expect(await idsOf([1, 0, 0], { v: 1.5 })).toEqual(['half']);
      expect(await idsOf([1, 0, 0], { lang: 'de' })).toEqual(['int', 'text']);
      expect(await idsOf([1, 0, 0], { lang: 'de', v: '1' })).toEqual(['text']);
      expect(await idsOf([1, 0, 0], { lang: 'en', v: '1' })).toEqual([]);
    });

    it('filters by several texts of one key, for vectors and for words, also beside other values', async () => {
      await filled(
        record('a', [1, 0, 0], { text: 'about otters', metadata: { document: 'one', lang: 'de' } }),
        record('b', [1, 0, 0], { text: 'about otters', metadata: { document: 'two', lang: 'en' } }),
        record('c', [1, 0, 0], { text: 'about otters', metadata: { document: 'three', lang: 'de' } }),
        record('d', [1, 0, 0], { text: 'about otters', metadata: { document: 1 } }),
        record('e', [1, 0, 0], { text: 'about otters' }),
      );
      const inside = async (texts: readonly string[], where: VectorMetadata = {}) => {
        const filter = { limit: 10, where, anyOf: { key: 'document', texts } };
        const [near, said] = [
          await vectors.query(scope, { vector: vectorOf(1, 0, 0), ...filter }),
          await vectors.match(scope, { words: 'otters', ...filter }),
        ];
        expect(said.hits.map(({ id }) => id)).toEqual(near.hits.map(({ id }) => id));
        return near.hits.map(({ id }) => id);
      };
      expect(await inside(['one', 'three', 'nowhere'])).toEqual(['a', 'c']);
      expect(await inside(['one', 'two'], { lang: 'en' })).toEqual(['b']);
      expect(await inside(['1', "o'ne", '$and'])).toEqual([]);
      expect(await inside([])).toEqual([]);
      const tooMany = { key: 'document', texts: Array.from({ length: vectorLimits.choices + 1 }, (_, n) => `d${n}`) };
      await expect(vectors.query(scope, { vector: vectorOf(1, 0, 0), limit: 1, anyOf: tooMany })).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
      });
    });

    it('reports the keys that no record has, and not those that merely match nothing', async () => {
      await filled(record('one', [1, 0, 0], { metadata: { lang: 'de' } }), record('two', [1, 0, 0], { metadata: { year: 1 } }));
      expect(await ask([1, 0, 0], { lang: 'fr', expert_domian: 'law' })).toEqual({ hits: [], unknownKeys: ['expert_domian'] });
      expect(await ask([1, 0, 0], { lang: 'de', year: 1 })).toEqual({ hits: [], unknownKeys: [] });
      await vectors.delete(scope, { ids: ['two'] });
      expect((await ask([1, 0, 0], { year: 1 })).unknownKeys).toEqual(['year']);
      expect(
        (await vectors.query({ ...scope, collection: 'never made' }, { vector: vectorOf(1), limit: 1, where: { x: 1 } })).unknownKeys,
      ).toEqual(['x']);
    });

    const match = async (words: string, more: { where?: VectorMetadata; limit?: number } = {}) =>
      (await vectors.match(scope, { words, limit: 10, ...more })).hits;
    const matched = async (...asked: Parameters<typeof match>) => (await match(...asked)).map(({ id }) => id);
    const text = (id: string, body: string, metadata: VectorMetadata = {}) => record(id, [1, 0, 0], { text: body, metadata });

    it('finds words in texts, titles and headings, whatever their form, case and accents, the most relevant first', async () => {
      await filled(
        text('bridge', 'The bridge crosses a river near the town.', { title: 'Gull Bridge' }),
        text('builder', 'She built bridges and towers.', { title: 'Ilse Brandvold' }),
        text('valves', 'Every third month.', { heading: 'Maintenance of zirconium valves' }),
        text('café', 'Das Café liegt an der Müritz.'),
        ...Array.from({ length: 12 }, (_, n) => text(`noise${n}`, 'A river, a town and some of its people.')),
      );
      expect(await matched('Who built the Gull Bridge?')).toEqual(['bridge', 'builder']);
      expect(await matched('BRIDGE crossing', { limit: 1 })).toEqual(['bridge']);
      expect(await matched('zirconium valve')).toEqual(['valves']);
      expect(await matched('cafe muritz')).toEqual(['café']);
      expect((await match('river bridge'))[0]).toEqual({
        id: 'bridge',
        text: 'The bridge crosses a river near the town.',
        metadata: { title: 'Gull Bridge' },
        score: expect.any(Number),
      });
      expect((await match('river bridge')).every(({ score }) => score > 0)).toBe(true);
      expect(await matched('nothing of this stands anywhere')).toEqual([]);
    });

    it('finds words of languages without spaces between them', async () => {
      await filled(
        text('clock', '北光時計会社は松本市で設立された。'),
        text('watch', '북광시계회사는 대구에서 설립되었다.'),
        text('rain', '今日の天気は雨です。', { title: '天気' }),
        ...Array.from({ length: 6 }, (_, n) => text(`noise${n}`, 'A river, a town and some of its people.')),
      );
      expect((await matched('松本市で設立された会社はどれですか？'))[0]).toBe('clock');
      expect((await matched('대구의 회사는 어디입니까?'))[0]).toBe('watch');
      expect(await matched('雨の天気')).toEqual(['rain']);
    });

    it('finds present texts by words, and replaced, deleted and dropped texts no longer', async () => {
      await filled(text('a', 'about lions'), text('b', 'about tigers', { kind: 'cat' }), text('c', 'about tigers'));
      expect(await matched('tigers', { where: { kind: 'cat' } })).toEqual(['b']);
      await vectors.upsert(scope, [text('a', 'about bears')]);
      expect([await matched('lions'), await matched('bears')]).toEqual([[], ['a']]);
      await vectors.delete(scope, { ids: ['b'] });
      await vectors.delete(scope, { where: { kind: 'cat' } });
      const late = await world.another();
      await late.upsert(scope, [text('d', 'about tigers and more of them')]);
      expect((await matched('tigers')).sort()).toEqual(['c', 'd']);
      const other = { tenant: 'other', collection: scope.collection };
      expect((await vectors.match(other, { words: 'tigers', limit: 10 })).hits).toEqual([]);
      await vectors.drop(scope);
      await vectors.create(scope, 3);
      expect(await matched('tigers')).toEqual([]);
    });

    it('treats every hostile query as words', async () => {
      await filled(text('a', 'plain words \u0000 about nothing', { title: 'x"y' }));
      for (const words of [
        '',
        '   ',
        '"',
        'plain"',
        'plain AND',
        'NOT plain',
        'NEAR(plain words, 2)',
        'plain*',
        'title:plain',
        '-plain',
        "plain'); DROP TABLE x; --",
        '\u0000plain',
        '\ud800 plain',
        '(?i)plain',
        'plain '.repeat(2_000),
        'x'.repeat(10_240),
      ])
        expect([words.slice(0, 40), await matched(words)]).toEqual([words.slice(0, 40), /plain/.test(words.slice(0, 100)) ? ['a'] : []]);
      expect(await matched('nothing')).toEqual(['a']);
      expect(await matched('plain', { limit: 0 })).toEqual([]);
    });

    it('returns records by id in the requested order, with their vectors', async () => {
      const [a, b] = [record('a', [0.5, -0.25, 2]), record('b', [1, 2, 3], { metadata: { k: 'v' } })];
      await filled(a, b);
      expect(await vectors.get(scope, ['b', 'missing', 'a', 'b'])).toEqual([b, a]);
      expect(await vectors.get(scope, [])).toEqual([]);
    });

    it('deletes by ids and by values, and treats missing records as deleted', async () => {
      const lang = (code: string) => ({ metadata: { lang: code } });
      await filled(
        record('a', [1, 0, 0], lang('de')),
        record('b', [1, 0, 0], lang('de')),
        record('c', [1, 0, 0], lang('en')),
        record('d', [1, 0, 0]),
      );
      await vectors.delete(scope, { ids: ['d', 'nobody'] });
      await vectors.delete(scope, { ids: [] });
      await vectors.delete(scope, { where: { lang: 'fr' } });
      expect(await vectors.count(scope)).toBe(3);
      await vectors.delete(scope, { where: { lang: 'de' } });
      expect(await idsOf([1, 0, 0])).toEqual(['c']);
      await expect(vectors.delete(scope, { where: {} })).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
      expect(await vectors.count(scope)).toBe(1);
    });

    it('creates a collection once and keeps its dimension', async () => {
      await vectors.create(scope, 3);
      await vectors.create(scope, 3);
      await (await world.another()).create(scope, 3);
      await expect(vectors.create(scope, 4)).rejects.toMatchObject({ code: 'VECTORS_INCOMPATIBLE' });
      expect(await vectors.list('acme')).toEqual([{ name: 'facts', dimension: 3 }]);
      await expect(vectors.upsert(scope, [record('x', [1, 2, 3, 4])])).rejects.toMatchObject({ code: 'VECTORS_INCOMPATIBLE' });
      await expect(ask([1, 2])).rejects.toMatchObject({ code: 'VECTORS_INCOMPATIBLE' });
    });

    it('lists the collections of a tenant by name, and forgets a dropped one in every process', async () => {
      const other = await world.another();
      for (const collection of ['zeta', 'alpha', 'ä b/c']) await vectors.create({ tenant: 'acme', collection }, 3);
      expect((await other.list('acme')).map((each) => each.name)).toEqual(['alpha', 'zeta', 'ä b/c']);
      const zeta = { tenant: 'acme', collection: 'zeta' };
      await vectors.upsert(zeta, [record('a', [1, 0, 0])]);
      expect(await other.count(zeta)).toBe(1);
      await vectors.drop(zeta);
      await vectors.drop(zeta);
      expect(await other.count(zeta)).toBe(0);
      expect((await other.query(zeta, { vector: vectorOf(1, 0, 0), limit: 1 })).hits).toEqual([]);
      await expect(other.upsert(zeta, [record('a', [1, 0, 0])])).rejects.toMatchObject({ code: 'COLLECTION_NOT_FOUND' });
      await vectors.create(zeta, 2);
      await other.upsert(zeta, [record('b', [1, 0])]);
      expect(await vectors.count(zeta)).toBe(1);
      expect((await vectors.list('acme')).map((each) => each.name)).toEqual(['alpha', 'zeta', 'ä b/c']);
    });

    it('reads a collection that was never created as empty', async () => {
      expect(await vectors.count(scope)).toBe(0);
      expect(await vectors.get(scope, ['a'])).toEqual([]);
      expect(await ask([1, 0, 0])).toEqual({ hits: [], unknownKeys: [] });
      expect(await vectors.list('acme')).toEqual([]);
      await vectors.delete(scope, { ids: ['a'] });
      await vectors.drop(scope);
    });

    it('never shows or changes anything across tenants, whatever they are called', async () => {
      const pairs = [
        { tenant: 'acme', collection: 'facts' },
        { tenant: 'zeta', collection: 'facts' },
        { tenant: '', collection: 'facts' },
        { tenant: 'Acme', collection: 'facts' },
        { tenant: 'acme/facts', collection: 'x' },
        { tenant: 'acme', collection: 'facts/x' },
        { tenant: 'acm', collection: 'efacts' },
        { tenant: '*', collection: 'facts' },
        { tenant: '%', collection: 'facts' },
      ];
      for (const [n, each] of pairs.entries()) {
        await vectors.create(each, 3);
        await vectors.upsert(each, [record('shared id', [1, 0, 0], { text: `secret ${n}`, metadata: { [`key${n}`]: n } })]);
      }
      for (const [n, each] of pairs.entries()) {
        const { hits } = await vectors.query(each, { vector: vectorOf(1, 0, 0), limit: 100 });
        expect(hits.map(({ text }) => text)).toEqual([`secret ${n}`]);
        expect(
          (await vectors.query(each, { vector: vectorOf(1, 0, 0), limit: 9, where: { [`key${n + 1}`]: n + 1 } })).unknownKeys,
        ).toHaveLength(1);
        expect((await vectors.get(each, ['shared id'])).map(({ text }) => text)).toEqual([`secret ${n}`]);
        const own = pairs.filter(({ tenant }) => tenant === each.tenant).map(({ collection }) => collection);
        expect((await vectors.list(each.tenant)).map((one) => one.name)).toEqual([...own].sort());
      }
      await vectors.delete(pairs[1]!, { ids: ['shared id'] });
      await vectors.drop(pairs[2]!);
      expect(await Promise.all(pairs.map((each) => vectors.count(each)))).toEqual([1, 0, 0, 1, 1, 1, 1, 1, 1]);
    });

    it('accepts hostile names, ids, keys and texts unchanged', async () => {
      const hostile = `'); DROP TABLE vector_record; -- "\\ $and {"$ne": 1} ../../etc 😀 \u0000 \u202e`;
      const words = [
        'x',
        '..',
        `O'Brien"`,
        '__proto__',
        'a'.repeat(vectorLimits.name),
        '😀',
        ' lead',
        'system.collections',
        'A/../B?x=1#y',
      ];
      for (const collection of words) {
        const strange = { tenant: collection, collection };
        await vectors.create(strange, 2);
        const id = `${collection} id`.slice(0, vectorLimits.id);
        const metadata = Object.fromEntries([
          ['$and', 1],
          ['__proto__', 'p'],
          ['chroma:document', hostile],
          ['a.b', true],
          ['"$x"', ''],
        ]) as VectorMetadata;
        await vectors.upsert(strange, [record(id, [1, 0], { text: hostile, metadata })]);
        expect(await vectors.get(strange, [id])).toEqual([record(id, [1, 0], { text: hostile, metadata })]);
        for (const [key, value] of Object.entries(metadata)) {
          const { hits, unknownKeys } = await vectors.query(strange, {
            vector: vectorOf(1, 0),
            limit: 2,
            where: Object.fromEntries([[key, value]]),
          });
          expect([hits.length, unknownKeys]).toEqual([1, []]);
        }
        expect((await vectors.list(collection)).map((one) => one.name)).toEqual([collection]);
      }
    });

    it('replaces halves of surrogate pairs in texts', async () => {
      await filled(record('one', [1, 0, 0], { text: 'a\ud83d b', metadata: { k: '\udc00' } }));
      expect(await vectors.get(scope, ['one'])).toEqual([record('one', [1, 0, 0], { text: 'a\ufffd b', metadata: { k: '\ufffd' } })]);
    });

    it('refuses values that it could not return', async () => {
      await filled(record('kept', [1, 0, 0]));
      const bad: readonly (readonly [string, VectorRecord])[] = [
        ['REQUEST_INVALID', record('', [1, 0, 0])],
        ['REQUEST_INVALID', record('i'.repeat(vectorLimits.id + 1), [1, 0, 0])],
        ['REQUEST_INVALID', record('\ud800', [1, 0, 0])],
        ['REQUEST_INVALID', record('x', [1, 0, 0], { metadata: { '': 1 } })],
        ['REQUEST_INVALID', record('x', [1, 0, 0], { metadata: { n: Number.NaN } })],
        ['REQUEST_INVALID', record('x', [1, 0, 0], { metadata: { n: [1] as unknown as string } })],
        ['REQUEST_INVALID', record('x', [1, 0, 0], { metadata: { n: null as unknown as string } })],
        ['VECTORS_INCOMPATIBLE', record('x', [0, 0, 0])],
        ['VECTORS_INCOMPATIBLE', record('x', [1, Number.NaN, 0])],
        ['VECTORS_INCOMPATIBLE', record('x', [1, Number.POSITIVE_INFINITY, 0])],
      ];
      for (const [code, each] of bad)
        await expect(vectors.upsert(scope, [record('good', [1, 0, 0]), each])).rejects.toMatchObject({ code });
      for (const dimension of [0, -1, 1.5, Number.NaN, 1e9])
        await expect(vectors.create({ ...scope, collection: 'other' }, dimension)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
      await expect(vectors.create({ ...scope, collection: '' }, 3)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
      await expect(ask([1, 0, 0], { k: undefined as unknown as string })).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
      await expect(ask([0, 0, 0])).rejects.toMatchObject({ code: 'VECTORS_INCOMPATIBLE' });
      expect(await vectors.count(scope)).toBe(1);
    });

    it(`stores ${many} records in one call and finds the nearest of them, filtered too`, async () => {
      const next = numbers(42);
      const all = Array.from({ length: many }, (_, n) =>
        record(`r${String(n).padStart(5, '0')}`, Array.from({ length: 8 }, next), { metadata: { shelf: n % 500, odd: n % 2 === 1 } }),
      );
      await vectors.create(scope, 8);
      await vectors.upsert(scope, all);
      expect(await vectors.count(scope)).toBe(many);
      const at = Float32Array.from({ length: 8 }, next);
      const nearest = (some: readonly VectorRecord[]) =>
        [...some]
          .sort((one, other) => cosineDistance(at, one.vector) - cosineDistance(at, other.vector))
          .slice(0, 5)
          .map(({ id }) => id);
      const asked = async (where: VectorMetadata) => (await vectors.query(scope, { vector: at, limit: 5, where })).hits.map(({ id }) => id);
      expect(await asked({})).toEqual(nearest(all));
      expect(await asked({ shelf: 17 })).toEqual(nearest(all.filter(({ metadata }) => metadata['shelf'] === 17)));
      expect(await asked({ odd: true })).toEqual(nearest(all.filter(({ metadata }) => metadata['odd'] === true)));
      await vectors.delete(scope, { ids: all.slice(0, many - 10).map(({ id }) => id) });
      expect(await vectors.count(scope)).toBe(10);
    }, 60_000);

    it('keeps one record of each id when two processes write at the same time', async () => {
      const other = await world.another();
      await vectors.create(scope, 3);
      const writes = Array.from({ length: 10 }, (_, n) =>
        (n % 2 ? vectors : other).upsert(scope, [record('same', [1, n, 0]), record(`own${n}`, [1, 0, 0])]),
      );
      await Promise.all(writes);
      expect(await vectors.count(scope)).toBe(11);
    });

    it('stops if the signal of a query has aborted', async () => {
      await filled(record('a', [1, 0, 0]));
      const signal = AbortSignal.abort(new Error('enough'));
      await expect(vectors.query(scope, { vector: vectorOf(1, 0, 0), limit: 1, signal })).rejects.toThrow('enough');
    });

    it('does not change if the caller changes its arrays afterwards', async () => {
      const mine = record('a', [1, 0, 0]);
      await filled(mine);
      mine.vector.fill(7);
      const [found] = await vectors.get(scope, ['a']);
      found!.vector.fill(9);
      expect(await vectors.get(scope, ['a'])).toEqual([record('a', [1, 0, 0])]);
    });

    it('is healthy while it is open, and throws VECTORS_UNAVAILABLE afterwards', async () => {
      const other = await world.another();
      expect(await other.health()).toBeNull();
      await other.close();
      await other.close();
      expect(await other.health()).toEqual(expect.any(String));
      const gone = { code: 'VECTORS_UNAVAILABLE' };
      await expect(other.create(scope, 3)).rejects.toMatchObject(gone);
      await expect(other.upsert(scope, [])).rejects.toMatchObject(gone);
      await expect(other.query(scope, { vector: vectorOf(1), limit: 1 })).rejects.toMatchObject(gone);
      await expect(other.get(scope, ['a'])).rejects.toMatchObject(gone);
      await expect(other.delete(scope, { ids: ['a'] })).rejects.toMatchObject(gone);
      await expect(other.count(scope)).rejects.toMatchObject(gone);
      await expect(other.list('acme')).rejects.toMatchObject(gone);
      await expect(other.drop(scope)).rejects.toMatchObject(gone);
      expect(await vectors.health()).toBeNull();
    });
  });
}
