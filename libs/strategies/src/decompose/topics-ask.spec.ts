import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readFacts } from './facts-ask.js';
import { collectionsIn, topicFaults } from './topics.js';
import { readTopics } from './topics-reply.js';

const collections = [
  { name: 'law', description: 'Statutes' },
  { name: 'News', description: 'Papers' },
];
const read = (value: unknown, most = 4) => readTopics(typeof value === 'string' ? value : JSON.stringify(value), { most, collections });
const topicsIn = (value: unknown, most?: number) => {
  const reading = read(value, most);
  return 'faults' in reading ? reading.faults : reading.output.tasks.map((task) => [task.id, task.task, task.query, collectionsIn(task)]);
};
const synthesisIn = (value: unknown) => {
  const reading = read(value);
  return 'faults' in reading ? null : reading.output.content['synthesis'];
};

describe('the reply of a decomposer', () => {
  it.each([
    [
      { topics: [{ topic: 'Ferries', query: 'ferry prices 2024', collections: ['law'] }], synthesis: 'rank' },
      [['t1', 'Ferries', 'ferry prices 2024', ['law']]],
    ],
    ['```json\n{"sub_topics": [{"title": "Ferries", "search_query": "ferry prices",}]}\n```', [['t1', 'Ferries', 'ferry prices', []]]],
    [
      ['trains', 'ferries'],
      [
        ['t1', 'trains', 'trains', []],
        ['t2', 'ferries', 'ferries', []],
      ],
    ],
    [{ topics: [{ query: 'only words', collections: 'NEWS' }] }, [['t1', 'only words', 'only words', ['News']]]],
    [{ topics: [{ topic: 'a', collections: ['nowhere', 7, null] }] }, [['t1', 'a', 'a', []]]],
  ])('%j is read', (reply, topics) => expect(topicsIn(reply)).toEqual(topics));

  it('lists each sub-topic once and at most the allowed number, whatever ids it contains', () => {
    const same = Array.from({ length: 3 }, () => ({ id: 'x', topic: 'Tides', query: 'tides in  Brest?' }));
    expect(
      topicsIn({ topics: [...same, { id: 'x', topic: 'Tides', query: 'Tides in Brest' }, { id: 'x', topic: 'Wind', query: 'wind' }] }),
    ).toEqual([
      ['t1', 'Tides', 'tides in Brest?', []],
      ['t2', 'Wind', 'wind', []],
    ]);
    const many = { topics: Array.from({ length: 500 }, (_, n) => ({ topic: `part ${n}`, query: `query ${n}`, needs: [`t${n}`] })) };
    expect(topicsIn(many)).toHaveLength(4);
    expect(topicsIn(many, 2)).toHaveLength(2);
  });

  it.each([
    ['merge', 'merge'],
    ['Compare', 'compare'],
    ['ranking', 'rank'],
    ['comparison', 'compare'],
    ['essay', 'merge'],
    [7, 'merge'],
    [undefined, 'merge'],
  ])('with synthesis %j is a %s', (said, expected) => expect(synthesisIn({ topics: ['a'], synthesis: said })).toBe(expected));

  it.each(['', 'I would look at trains.', '{"topics": "trains"}', '{"topics": []}', '{"topics": [{}, 3, null, {"topic": " "}]}'])(
    '%j is unusable',
    (reply) => expect(read(reply)).toHaveProperty('faults.0'),
  );

  it('becomes a valid plan, or a sentence that says what is wrong, whatever it is', () => {
    const entry = fc.oneof(
      fc.string(),
      fc.anything(),
      fc.record({ topic: fc.anything(), query: fc.anything(), collections: fc.anything() }, { requiredKeys: [] }),
    );
    const reply = fc.oneof(
      fc.json(),
      fc.record({ topics: fc.array(entry), synthesis: fc.anything() }).map((said) => JSON.stringify(said) ?? ''),
      fc.string(),
    );
    fc.assert(
      fc.property(reply, fc.integer({ min: 1, max: 4 }), (text, most) => {
        const reading = readTopics(text, { most, collections });
        if ('faults' in reading) return expect(reading.faults.length).toBeGreaterThan(0);
        expect(topicFaults(reading.output.tasks, most)).toEqual([]);
        for (const task of reading.output.tasks) {
          expect([
            task.task.trim() !== '',
            (task.query ?? '').trim() !== '',
            task.task.length <= 200,
            (task.query ?? '').length <= 400,
          ]).toEqual([true, true, true, true]);
          for (const name of collectionsIn(task)) expect(['law', 'News']).toContain(name);
        }
      }),
    );
  });
});

describe('the reply of a reader of passages', () => {
  const facts = (reply: string, passages = 3) => {
    const reading = readFacts(reply, passages);
    return 'faults' in reading ? 'unusable' : reading.output.map(({ text, passage }) => [text, passage]);
  };
  it.each([
    ['{"facts": [{"fact": "It sank.", "source": 2}]}', [['It sank.', 2]]],
    ['[{"text": "It sank.", "n": "[3]"}]', [['It sank.', 3]]],
    ['{"facts": []}', []],
    ['{"facts": [{"fact": "It sank.", "source": 1}, {"fact": "Nobody says so.", "source": 9}, {"fact": "No source."}]}', [['It sank.', 1]]],
    ['{"facts": [{"fact": "It sank."}]}', 'unusable'],
    ['It sank.', 'unusable'],
    ['{"facts": 3}', 'unusable'],
  ])('%s', (reply, expected) => expect(facts(reply)).toEqual(expected));

  it('never becomes more than five facts, nor one of a passage that does not exist', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ fact: fc.anything(), source: fc.oneof(fc.integer(), fc.string()) })),
        fc.nat(6),
        (said, passages) => {
          const reading = readFacts(JSON.stringify({ facts: said }) ?? '', passages);
          if ('faults' in reading) return;
          expect(reading.output.length).toBeLessThanOrEqual(5);
          for (const { passage, text } of reading.output)
            expect([passage >= 1 && passage <= passages, text.trim() !== '']).toEqual([true, true]);
        },
      ),
    );
  });
});
