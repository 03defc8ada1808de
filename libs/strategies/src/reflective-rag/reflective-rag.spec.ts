import { describe, expect, it } from '@jest/globals';
import type { GapDetected, PlanCreated, StreamBody, TaskDispatched, TaskInput, Template } from '@conclave/contracts';
import { noUsage } from '@conclave/contracts';
import { oneCall, Scenario } from '../testing/scenario.js';
import type { RagContent } from './rag-shapes.js';

const collections = [
  { name: 'law', description: 'Statutes.' },
  { name: 'manuals', description: 'Manuals of machines.' },
];
const offered = { strategy: 'reflective-rag', capabilities: ['collections'], collections } as const;
const begun = (changes: Partial<Template> = {}, limits = {}): Scenario => {
  const run = new Scenario({ ...offered, capabilities: ['collections'], collections: [...collections], ...changes });
  run.requested(limits);
  return run;
};
const routed = (run: Scenario, epoch: number, content: Partial<RagContent> = {}, safety: PlanCreated['data']['safety'] = []) =>
  run.planned(epoch, [], oneCall, { safety, content: { class: 'factual', collections: ['law'], query: `query ${epoch}`, ...content } });

/** Passages of a search task. */
const passages = (run: Scenario, local: string, ...texts: string[]) =>
  run.result(local, {
    usage: noUsage,
    output: {
      kind: 'evidence',
      facts: texts.map((text) => ({
        text,
        source: { kind: 'collection', title: 'Doc', url: null, document: 'law/d1' },
        taskId: `run_00000001/${run.state!.epoch}/${local}`,
        epoch: run.state!.epoch,
        confidence: null,
      })),
    },
  });
const values = (run: Scenario, local: string, said: Record<string, unknown>) =>
  run.result(local, { output: { kind: 'values', values: said } });
const facts = (run: Scenario, ...texts: string[]) => {
  const taskId = `run_00000001/${run.state!.epoch}/judge.facts`;
  const source = { kind: 'collection' as const, title: 'Doc', url: null };
  const found = texts.map((text) => ({ text, source, taskId, epoch: run.state!.epoch, confidence: null }));
  return run.result('judge.facts', { output: { kind: 'evidence', facts: found } });
};
const assessed = (run: Scenario, quality: string, ...missing: string[]) => values(run, 'judge.assess', { quality, missing, parsed: true });
const refined = (run: Scenario, query: string) => values(run, 'judge.refine', { query });
const pass = (run: Scenario, epoch: number, ...found: string[]) => {
  routed(run, epoch);
  passages(run, 'c1-law', ...found.map((text) => `passage: ${text}`));
  if (found.length > 0) facts(run, ...found);
};

const inputOf = <K extends TaskInput['kind']>(run: Scenario, local: string) =>
  (run.outputs.findLast(({ id }) => id.endsWith(`/${local}`)) as TaskDispatched).data.input as Extract<TaskInput, { kind: K }>;
const stages = (run: Scenario): string[] =>
  run.decisions.flatMap(({ entries }) => entries.flatMap((entry: StreamBody) => (entry.kind === 'stage' ? [entry.code] : [])));
const rules = (run: Scenario): string[] => run.state!.decisions.map(({ rule }) => rule);
const asked = (run: Scenario) => (run.outputs.findLast(({ type }) => type === 'GapDetected')!.data as GapDetected['data']).asked;

describe('reflective-rag', () => {
  it('looks up, extracts facts, judges them, and answers if they suffice', () => {
    const run = begun();
    routed(run, 0, { collections: ['law', 'manuals'] });
    expect(run.dispatched()).toEqual(['0/c1-law', '0/c2-manuals']);
    expect(inputOf<'collections'>(run, 'c2-manuals')).toMatchObject({
      kind: 'collections',
      collections: ['manuals'],
      limit: 5,
      query: 'query 0',
    });
    passages(run, 'c1-law', 'one', 'two');
    expect(run.dispatched()).toHaveLength(2);
    passages(run, 'c2-manuals', 'three');
    expect(inputOf<'values'>(run, 'judge.facts').values).toMatchObject({
      question: 'Who founded it?',
      query: 'query 0',
      passages: [{ text: 'one' }, { text: 'three' }, { text: 'two' }],
    });
    facts(run, 'Ada founded it.');
    expect(inputOf<'values'>(run, 'judge.assess').values).toEqual({
      question: 'Who founded it?',
      readsAs: 'query 0',
      facts: [{ text: 'Ada founded it.', source: { kind: 'collection', title: 'Doc', url: null } }],
    });
    assessed(run, 'sufficient');
    expect(inputOf<'synthesis'>(run, 'judge.synthesis')).toMatchObject({
      openGap: null,
      onlyKnown: true,
      facts: [{ text: 'Ada founded it.' }],
    });
    run.composed('Ada [1].');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rule: 'D3', answer: 'Ada [1].', rounds: 1, assessed: true });
    expect(stages(run)).toEqual(['routing', 'retrieving', 'summarizing', 'evaluating', 'generating', 'done']);
  });

  it('asks with a refined query, classified and routed again, and keeps the facts of every pass', () => {
    const run = begun();
    pass(run, 0, 'Ada founded it.');
    assessed(run, 'partial', 'where she was born');
    expect(inputOf<'values'>(run, 'judge.refine').values).toMatchObject({
      question: 'Who founded it?',
      missing: ['where she was born'],
      tried: [{ query: 'query 0', collections: ['law'], outcome: '1 new fact' }],
      facts: [{ text: 'Ada founded it.' }],
    });
    refined(run, 'birthplace of Ada');
    expect(asked(run)).toMatchObject({ query: 'birthplace of Ada', places: [{ name: 'law' }, { name: 'manuals' }] });
    routed(run, 1, { class: 'exploratory', collections: ['manuals'], query: 'birthplace of Ada' });
    expect(run.dispatched().at(-1)).toBe('1/discover');
    values(run, 'discover', { documents: [{ collection: 'manuals', document: 'd7', title: 'Lives', passage: 3 }] });
    expect(inputOf<'collections'>(run, 'c1-manuals')).toMatchObject({ documents: ['d7'], query: 'birthplace of Ada' });
    passages(run, 'c1-manuals', 'She was born in Brest.');
    facts(run, 'Ada was born in Brest.');
    expect(inputOf<'values'>(run, 'judge.assess').values['facts']).toMatchObject([
      { text: 'Ada founded it.' },
      { text: 'Ada was born in Brest.' },
    ]);
    assessed(run, 'sufficient');
    run.composed('Ada [1], of Brest [2].');
    expect(run.completed()).toMatchObject({ outcome: 'completed', rounds: 2 });
    expect(rules(run)).toEqual(['D9', 'D3']);
    expect(stages(run)).toContain('discovering');
    expect(stages(run)).toContain('refining');
  });

  it('reads the best document of a deep question, and another one on the next pass', () => {
    const run = begun({ options: { characters: 4_000, documents: 3 } });
    const deep = { class: 'deep_dive' as const, collections: ['manuals'] };
    const documents = ['d1', 'd2'].map((document) => ({ collection: 'manuals', document, title: document, passage: 2 }));
    routed(run, 0, deep);
    expect(inputOf<'discover'>(run, 'discover')).toEqual({ kind: 'discover', query: 'query 0', collections: ['manuals'], limit: 3 });
    values(run, 'discover', { documents });
    expect(inputOf<'document'>(run, 'read')).toEqual({
      kind: 'document',
      collection: 'manuals',
      document: 'd1',
      passage: 2,
      maxCharacters: 4_000,
    });
    passages(run, 'read', 'a long text');
    facts(run, 'A step.');
    assessed(run, 'partial', 'the next step');
    refined(run, 'next step');
    routed(run, 1, { ...deep, query: 'next step' });
    values(run, 'discover', { documents });
    expect(inputOf<'document'>(run, 'read')).toMatchObject({ document: 'd2' });
    expect(stages(run).slice(0, 4)).toEqual(['routing', 'discovering', 'reading', 'summarizing']);
  });

  it.each(['exploratory', 'comparative', 'deep_dive'] as const)('looks everywhere if no document was found (%s)', (kind) => {
    const run = begun();
    routed(run, 0, { class: kind, collections: ['law', 'manuals'] });
    run.failed('discover');
    expect(run.dispatched()).toEqual(['0/discover', '0/c1-law', '0/c2-manuals']);
    expect(inputOf<'collections'>(run, 'c1-law').documents).toBeUndefined();
  });

  it('looks the question up in all collections if the router fails', () => {
    const run = begun();
    run.planFailed(0);
    expect(run.dispatched()).toEqual(['0/c1-law', '0/c2-manuals']);
    expect(inputOf<'collections'>(run, 'c1-law').query).toBe('Who founded it?');
  });

  it('refuses a route to a collection that is not offered, and searches all of them', () => {
    const run = begun();
    routed(run, 0, { collections: ['secrets'] });
    expect(run.dispatched()).toEqual(['0/c1-law', '0/c2-manuals']);
  });

  it('treats no facts as insufficient without a call', () => {
    const run = begun();
    pass(run, 0);
    expect(run.dispatched()).toEqual(['0/c1-law', '0/judge.refine']);
    expect(rules(run)).toEqual(['D9']);
  });

  it.each([
    ['is unreadable', (run: Scenario) => values(run, 'judge.assess', { quality: 'insufficient', missing: [], parsed: false })],
    ['fails', (run: Scenario) => run.failed('judge.assess')],
  ])('treats a verdict that %s as insufficient, and says so', (_what, reply) => {
    const run = begun({ options: { max_rounds: 1 } });
    pass(run, 0, 'Ada founded it.');
    reply(run);
    run.composed('Ada [1].');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D6', assessed: false });
    expect(inputOf<'synthesis'>(run, 'judge.synthesis').openGap).toContain('could not be read');
  });

  it('ends after the last pass, and the composer knows what is missing', () => {
    const run = begun({ options: { max_rounds: 2 } });
    pass(run, 0, 'one');
    assessed(run, 'partial', 'the year');
    refined(run, 'year of it');
    pass(run, 1, 'two');
    assessed(run, 'insufficient', 'the year', 'the place');
    expect(inputOf<'synthesis'>(run, 'judge.synthesis')).toMatchObject({ openGap: 'the year; the place' });
    run.composed('one [1], two [2]; the year is not known.');
    expect(run.completed()).toMatchObject({
      outcome: 'limit_reached',
      rule: 'D6',
      rounds: 2,
      reason: expect.stringContaining('the year; the place'),
    });
    expect(run.outputs.filter(({ type }) => type === 'GapDetected')).toHaveLength(1);
  });

  it('builds a query itself if none can be read', () => {
    const run = begun();
    pass(run, 0, 'one');
    assessed(run, 'partial', 'the year');
    values(run, 'judge.refine', { query: '' });
    expect(asked(run)).toMatchObject({ query: 'query 0 the year' });
  });

  it('does not judge the same facts twice', () => {
    const run = begun();
    pass(run, 0, 'one');
    assessed(run, 'partial', 'the year');
    refined(run, 'another one');
    pass(run, 1);
    expect(run.dispatched().filter((id) => id.endsWith('judge.assess'))).toEqual(['0/judge.assess']);
    expect(run.state!.gap).toBe('the year');
  });

  it('stops with what it has if passes bring nothing new: first with other words, then for good', () => {
    const run = begun({ options: { max_rounds: 9 } });
    for (let epoch = 0; run.completed() === undefined && epoch < 6; epoch += 1) {
      routed(run, epoch, { query: `${['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord'][epoch]} stone` });
      if (epoch === 0) {
        passages(run, 'c1-law', 'p');
        facts(run, 'one');
        assessed(run, 'partial', 'the year');
      } else passages(run, 'c1-law');
      if (run.state!.ending) run.composed('one [1].');
      else refined(run, `${['birch', 'cedar', 'delta', 'ember', 'fjord', 'grove'][epoch]} stone`);
    }
    expect(rules(run)).toEqual(['D9', 'D9', 'D7', 'D8']);
    expect(run.completed()).toMatchObject({ outcome: 'stalled', answer: 'one [1].' });
  });

  it('does not search again with the same words', () => {
    const run = begun();
    pass(run, 0, 'one');
    assessed(run, 'partial', 'the year');
    refined(run, 'other');
    routed(run, 1, { query: 'Query 0.' });
    expect(run.dispatched().filter((id) => id.startsWith('1/c'))).toEqual([]);
    expect(run.facts.filter(({ kind }) => kind === 'TaskRefused')).toHaveLength(1);
  });

  it('is stuck after three passes in which every search failed, and answers from what the model knows', () => {
    const run = begun({ options: { max_rounds: 9 } });
    for (let epoch = 0; epoch < 3; epoch += 1) {
      routed(run, epoch, { query: ['amber', 'birch', 'cedar'][epoch]! });
      run.failed('c1-law');
      if (epoch < 2) refined(run, ['birch', 'cedar'][epoch]!);
    }
    const why = 'What was looked up or called for this answer failed.';
    expect(inputOf<'synthesis'>(run, 'judge.synthesis')).toMatchObject({ facts: [], openGap: why, unsourced: 'all_failed' });
    run.composed('Ada did, I think.');
    expect(run.completed()).toMatchObject({ outcome: 'stuck', rule: 'D4', answer: 'Ada did, I think.' });
  });

  it('fails if no search finds anything and no model writes', () => {
    const run = begun({ options: { max_rounds: 1 } });
    routed(run, 0);
    run.found('c1-law');
    run.failed('judge.synthesis');
    expect(run.completed()).toMatchObject({ outcome: 'failed', reasonCode: 'empty_ledger', answer: null });
    expect(run.dispatched().filter((id) => id.endsWith('judge.synthesis'))).toHaveLength(1);
  });

  it('has an answer from what the model knows reviewed on a topic on which a wrong answer does harm', () => {
    const run = begun({ options: { max_rounds: 1 }, critic: { categories: ['medical_consult'] } });
    routed(run, 0, {}, ['medicine']);
    run.found('c1-law');
    run.composed(`Ask a doctor. ${'word '.repeat(40)}`);
    expect(run.dispatched().at(-1)).toBe('0/judge.critic');
  });

  it('continues with what one collection has if another one fails, and the composer knows it', () => {
    const run = begun();
    routed(run, 0, { collections: ['law', 'manuals'] });
    passages(run, 'c1-law', 'one');
    run.failed('c2-manuals');
    facts(run, 'one');
    assessed(run, 'sufficient');
    expect(inputOf<'synthesis'>(run, 'judge.synthesis').failed).toMatchObject([{ capability: 'collections', reason: 'broken' }]);
  });

  it('answers from the ledger if no model writes, and says what is missing', () => {
    const run = begun({ options: { max_rounds: 1 } });
    pass(run, 0, 'Ada founded it.');
    assessed(run, 'partial', 'the year');
    run.failed('judge.synthesis');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', reasonCode: 'composer_failed' });
    expect(run.completed()!['answer']).toMatch(/Ada founded it\. \[1\][^]*Still open: the year[^]*not be written by a model \(broken\)/);
    expect(stages(run).at(-1)).toBe('done');
  });

  it('ends by the budget with what it has (D2)', () => {
    const run = begun({}, { wall_time_s: 100 });
    routed(run, 0);
    passages(run, 'c1-law', 'p');
    run.now += 90_000;
    facts(run, 'one');
    expect(inputOf<'synthesis'>(run, 'judge.synthesis').openGap).toBe('Whether the facts suffice was not assessed.');
    run.composed('one [1].');
    expect(run.completed()).toMatchObject({ outcome: 'limit_reached', rule: 'D2', answer: 'one [1].' });
  });

  it('ends cancelled (D1), and at once if there is nothing to search', () => {
    const run = begun();
    routed(run, 0);
    run.cancel();
    expect(run.completed()).toMatchObject({ outcome: 'cancelled', answer: null });
    const empty = begun({ collections: [] });
    expect(empty.completed()).toMatchObject({ outcome: 'failed', rule: 'D4', reason: expect.stringContaining('no collection') });
    expect(empty.outputs.map(({ type }) => type)).toEqual(['RunCompleted']);
  });

  describe('with a question to which a wrong answer does harm', () => {
    const careful = { critic: { categories: ['medical_consult', 'legal_advisor'] } };
    const long = `Ada founded it [1]. ${'The law says so in many words. '.repeat(4)}`;
    const written = (changes: Partial<Template> = careful): Scenario => {
      const run = begun(changes);
      routed(run, 0, {}, ['law']);
      passages(run, 'c1-law', 'one');
      facts(run, 'Ada founded it.');
      assessed(run, 'sufficient');
      return run;
    };
    const dispatchedTask = (run: Scenario, local: string) =>
      (run.outputs.findLast(({ id }) => id.endsWith(`/${local}`)) as TaskDispatched).data;

    it('holds the answer until the critic has read it, with the facts in the order of the ledger', () => {
      const run = written();
      expect(dispatchedTask(run, 'judge.synthesis').stream).toBe('held');
      run.composed(long);
      expect(run.completed()).toBeUndefined();
      expect(inputOf<'critic'>(run, 'judge.critic')).toMatchObject({
        answer: long,
        categories: ['legal_advisor'],
        facts: [{ text: 'Ada founded it.' }],
      });
      run.result('judge.critic', { output: { kind: 'critique', verdict: 'confirmed', reasons: [], text: null } });
      expect(run.completed()).toMatchObject({ outcome: 'completed', answer: long, review: 'confirmed' });
    });

    it('delivers what the critic has corrected, without citations of facts that do not exist', () => {
      const run = written();
      run.composed(long);
      run.result('judge.critic', { output: { kind: 'critique', verdict: 'corrected', reasons: ['no'], text: 'Bea founded it [1][7].' } });
      expect(run.completed()).toMatchObject({ answer: 'Bea founded it [1].', review: 'corrected' });
    });

    it('says so if no review was made', () => {
      const run = written();
      run.composed(long);
      run.failed('judge.critic');
      expect(run.completed()).toMatchObject({ review: 'not_reviewed', answer: expect.stringContaining('it was not reviewed') });
    });

    it('asks no critic if the template wants none, or the topic is harmless', () => {
      for (const run of [written({ critic: { categories: [] } }), written({ critic: { categories: ['medical_consult'] } })]) {
        expect(dispatchedTask(run, 'judge.synthesis').stream).toBe('live');
        run.composed(long);
        expect(run.completed()).toMatchObject({ answer: long, review: 'none' });
      }
    });
  });

  it('searches the configured search beside the collections', () => {
    const run = begun({ capabilities: ['collections', 'research'] });
    routed(run, 0, { class: 'exploratory', collections: ['research', 'law'] });
    expect(run.dispatched()).toEqual(['0/discover', '0/search']);
    expect(inputOf<'research'>(run, 'search')).toMatchObject({ kind: 'research', query: 'query 0' });
    const alone = begun({ capabilities: ['research'], collections: [] });
    routed(alone, 0, { class: 'deep_dive', collections: ['research'] });
    expect(alone.dispatched()).toEqual(['0/search']);
  });
});
