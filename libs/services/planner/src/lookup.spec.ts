import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import {
  collectionOf,
  documentsCollection,
  factsPurpose,
  MemoryGraphStore,
  MemoryVectorStore,
  type Embedder,
  type Search,
  type VectorRecord,
} from '@conclave/ports';
import { keptPlan, planning, question, template } from './__fixtures__/planning.js';
import { withLearned, type LookupParts } from './lookup.js';

const plan = JSON.stringify({ tasks: [{ id: 'x1', task: 'Answer it.', capability: 'expert.general' }] });
/** Every text has a different vector, so only full text finds anything. */
const embedder: Embedder = {
  id: 'far@1',
  dimension: 2,
  reads: 'words',
  embed: (texts) => Promise.resolve(texts.map(() => Float32Array.of(0, 1))),
  health: () => Promise.resolve(null),
  close: () => Promise.resolve(),
};
const corpus = (title: string, snippet: string, more: Partial<Search> = {}): Search => ({
  kind: 'corpus',
  description: 'a folder',
  query: () => Promise.resolve([{ title, url: null, snippet }]),
  health: () => Promise.resolve(null),
  close: () => Promise.resolve(),
  ...more,
});
const record = (id: string, text: string): VectorRecord => ({ id, vector: Float32Array.of(1, 0), text, metadata: {} });
const asked = (goal: string, more = {}) => ({ template: { ...template, ...more }, goal });
const levelOf = async (parts: Partial<LookupParts>, goal: string, more = {}) => {
  const { complexity, signals } = await planning([plan], undefined, parts).plan('run_1', asked(goal, more));
  return [complexity, ...signals];
};

describe('a trivial question', () => {
  const builder = 'Who built the Gull Bridge?';

  it('becomes moderate when a document is about it, and stays trivial when none is', async () => {
    const search = corpus('Gull Bridge', 'Ilse Brandvold built it in 1931.');
    expect(await levelOf({ search }, builder)).toEqual(['moderate', 'lookup:documents']);
    expect(await levelOf({ search }, 'Who designed the Eiffel Tower?')).toEqual(['trivial']);
    const named = corpus('Crumbleby', 'A baking mix.');
    expect(await levelOf({ search: named }, 'In what state is the maker of Crumbleby headquartered?')).toEqual([
      'moderate',
      'lookup:documents',
    ]);
    expect(await levelOf({ search }, builder, { capabilities: [] })).toEqual(['trivial']);
    expect(await levelOf({}, builder)).toEqual(['trivial']);
  });

  it('becomes moderate when an uploaded document or a learned fact of the same tenant is about it', async () => {
    const vectors = new MemoryVectorStore().connect();
    const fill = async (tenant: string, collection: string, text: string) => {
      await vectors.create({ tenant, collection }, 2);
      await vectors.upsert({ tenant, collection }, [record('one', text)]);
    };
    const collections = { capabilities: ['collections'], collections: [{ name: 'town', description: 'About the town.' }] };
    await fill('zeta', documentsCollection('town', embedder), 'The Gull Bridge was built by Ilse Brandvold.');
    expect(await levelOf({ vectors, embedder }, builder, collections)).toEqual(['trivial']);
    await fill('acme', documentsCollection('town', embedder), 'The Gull Bridge was built by Ilse Brandvold.');
    expect(await levelOf({ vectors, embedder }, builder, collections)).toEqual(['moderate', 'lookup:documents']);
    await fill('acme', collectionOf(factsPurpose, embedder), 'Who owns the Heron Mill?\nTomas Aldine owns it.');
    expect(await levelOf({ vectors, embedder }, 'Who owns the Heron Mill?')).toEqual(['moderate', 'lookup:learned']);
    expect(await levelOf({ vectors, embedder }, 'Who owns the Raven Mill?')).toEqual(['trivial']);
  });

  it.each([
    'Explain the vacation policy.',
    'Tell me about vacations at our company',
    'vacation policy',
    'Erkläre mir bitte die Vacation Policy.',
  ])('becomes moderate when a document is about it, however it is worded: %s', async (goal) => {
    const search = corpus('Vacation policy', 'Everybody in our company has 30 days of vacation, says this policy.');
    expect(await levelOf({ search }, goal)).toEqual(['moderate', 'lookup:documents']);
    expect(await levelOf({ search: corpus('Gull Bridge', 'Built in 1931.') }, goal)).toEqual(['trivial']);
  });

  it('that continues a conversation becomes moderate when a document is about it or about the questions before it', async () => {
    const search = corpus('Gull Bridge', 'Ilse Brandvold built it in 1931.');
    const after = async (...before: readonly string[]) => {
      const conversation = before.flatMap((content) => [
        { role: 'user' as const, content },
        { role: 'assistant' as const, content: 'Certainly.' },
      ]);
      const { complexity, signals } = await planning([plan], undefined, { search }).plan('run_1', {
        ...asked('What are the main materials?'),
        conversation,
      });
      return [complexity, ...signals];
    };
    expect(await after('Tell me about the Gull Bridge.')).toEqual(['moderate', 'lookup:documents']);
    expect(await after('Tell me about the Gull Bridge.', 'Thanks!')).toEqual(['moderate', 'lookup:documents']);
    expect(await after('Tell me about the Eiffel Tower.')).toEqual(['trivial']);
    expect(await after('Tell me about the Gull Bridge.', 'And rivers?', 'What is a delta?')).toEqual(['trivial']);
  });

  it('is looked up without a model, and not at all when it asks for a text or greets', async () => {
    const queries: string[] = [];
    const search = corpus('x', 'y', { query: ({ query }) => (queries.push(query), Promise.resolve([])) });
    const world = planning([], undefined, { search });
    for (const goal of ['Hello!', 'Write a haiku about rain.', 'Translate this sentence: we met.', 'What can you do?'])
      await world.plan(`run_${queries.length}${goal.length}`, asked(goal));
    expect(queries).toEqual([]);
    await world.plan('run_last', asked('What is a sextant?'));
    expect([queries, world.prompts]).toEqual([['What is a sextant?'], []]);
  });

  it('becomes moderate when a store is unavailable or slow, which is known within half a second', async () => {
    const away = corpus('', '', { query: () => Promise.reject(new Failure('SEARCH_UNAVAILABLE')) });
    expect(await levelOf({ search: away }, builder)).toEqual(['moderate', 'lookup:late']);
    const slow = corpus('', '', { query: () => new Promise(() => undefined) });
    const began = performance.now();
    expect(await levelOf({ search: slow }, builder)).toEqual(['moderate', 'lookup:late']);
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  it('about the world becomes moderate when only the web could answer it; a plain definition does not', async () => {
    const search = corpus('', '', { kind: 'web', query: () => Promise.reject(new Error('The lookup does not search the web.')) });
    expect(await levelOf({ search }, builder)).toEqual(['moderate', 'lookup:web']);
    expect(await levelOf({ search }, 'Tell me about the Gull Bridge.')).toEqual(['moderate', 'lookup:web']);
    expect(await levelOf({ search }, 'What is photosynthesis?')).toEqual(['trivial']);
    expect(await levelOf({ search }, 'Explain photosynthesis.')).toEqual(['trivial']);
    expect(await levelOf({ search }, builder, { capabilities: ['graph'] })).toEqual(['trivial']);
  });

  it('is decided once: a repeat uses the first lookup', async () => {
    let answers = 0;
    const search = corpus('', '', {
      query: () => Promise.resolve(answers++ === 0 ? [{ title: 'Gull Bridge', url: null, snippet: 'built' }] : []),
    });
    const world = planning([plan, plan], undefined, { search });
    const header = await world.request('run_1', asked(builder));
    expect([(await world.handle(header)).complexity, (await world.handle(header)).complexity, answers]).toEqual([
      'moderate',
      'moderate',
      1,
    ]);
  });
});

describe('a question when only the demo model is available', () => {
  const demo = ['conclave-demo@demo'];
  const parts = {
    planner: { models: demo, prompt: null },
    judge: { models: demo },
    experts: { general: { t1: demo, prompt: 'Answer.' }, medical_consult: { t1: demo, prompt: 'Answer.' } },
    complexity: 'moderate' as const,
  };
  const search = corpus('Gull Bridge', 'Ilse Brandvold built it in 1931 and kept a garden.');

  it.each([
    'Write me a poem about spring.',
    'How do I cook risotto?',
    'Schreibe mir ein Gedicht über den Herbst.',
    'Is it safe to take aspirin with wine?',
  ])('gets one expert and no plan when no document mentions it: %s', async (goal) => {
    const world = planning([], undefined, { search });
    const { tasks, complexity, signals, safety } = await world.plan('run_1', asked(goal, parts));
    expect([tasks.map(({ capability }) => capability), complexity, signals.at(-1), safety, world.prompts]).toEqual([
      ['expert.general'],
      'trivial',
      'lookup:nothing',
      [],
      [],
    ]);
  });

  it('is planned when a document names its subject, when it is a sum, or when its level is requested', async () => {
    const hops = 'In which of all the towns of the whole country was the grandmother of whoever once built the Gull Bridge raised?';
    expect(await levelOf({ search }, hops, parts)).toEqual(['moderate', 'forced:template']);
    for (const sum of [
      'What is 17*23?',
      '15 - 4',
      '12% of 300',
      'seven plus four',
      'Is 2400 a leap year?',
      'half of ninety',
      'How many seconds are in a week?',
    ])
      expect(await levelOf({ search }, sum, parts)).toEqual(['moderate', 'forced:template']);
    const forced = await planning([plan], undefined, { search }).plan('run_1', {
      ...asked('How do I cook risotto?', parts),
      complexity: 'moderate',
    });
    expect(forced.complexity).toBe('moderate');
  });

  it('is planned when a search is late or uses the web, and with any other model', async () => {
    const risotto = 'How do I cook risotto?';
    const away = corpus('', '', { query: () => Promise.reject(new Failure('SEARCH_UNAVAILABLE')) });
    expect(await levelOf({ search: away }, risotto, parts)).toEqual(['moderate', 'forced:template']);
    expect(await levelOf({ search: corpus('', '', { kind: 'web' }) }, risotto, parts)).toEqual(['moderate', 'forced:template']);
    const experts = { ...parts.experts, math: { t1: ['a@fake'], prompt: 'Answer.' } };
    expect(await levelOf({ search }, risotto, { ...parts, experts })).toEqual(['moderate', 'forced:template']);
  });

  it('in a chat may depend on the turns before it, unless it requests a text', async () => {
    const chat = {
      conversation: [
        { role: 'user' as const, content: 'Who built the Gull Bridge?' },
        { role: 'assistant' as const, content: 'Ilse Brandvold.' },
      ],
    };
    const told = async (goal: string) =>
      (await planning([plan], undefined, { search }).plan('run_1', { ...asked(goal, parts), ...chat })).complexity;
    expect([await told('In what year was her mother born?'), await told('Write me a poem about spring.')]).toEqual(['moderate', 'trivial']);
  });
});

describe('what was learned', () => {
  const graphOf = async (about: string) => {
    const graph = new MemoryGraphStore().connect();
    const insight = { summary: `${about} was built before the others.`, entities: [about], insight_type: 'comparison' as const };
    await graph.addSynthesis({ tenant: 'acme', runId: 'run_0', insight, domain: 'general', confidence: 0.9, at: 1 });
    return graph;
  };

  it('is offered to every plan that may use it, also in a later round, to experts as evidence', async () => {
    const world = planning([plan], undefined, { graph: await graphOf('Aurora bridge') });
    const told = ({ tasks }: Awaited<ReturnType<typeof world.plan>>) =>
      tasks.map(({ id, capability, needs }) => [id, capability, ...needs]);
    const offered = [
      ['learned', 'graph'],
      ['x1', 'expert.general', 'learned'],
    ];
    expect(told(await world.plan('run_1'))).toEqual(offered);
    // A cached plan gets it too, once.
    const kept = await world.plan('run_2', { plan: keptPlan });
    expect(told(kept)).toEqual(offered);
    expect(told(await world.plan('run_4', { plan: kept }))).toEqual(offered);
    expect(world.prompts).toHaveLength(1);
  });

  it('adds nothing when nothing was learned, or nothing about the question', async () => {
    const other = await planning([plan], undefined, { graph: await graphOf('Heron Mill') }).plan('run_1');
    const none = await planning([plan], undefined, { graph: new MemoryGraphStore().connect() }).plan('run_1');
    const unable = await planning([plan], undefined, { graph: await graphOf('Aurora bridge') }).plan(
      'run_1',
      asked(question, { capabilities: ['research'] }),
    );
    for (const { tasks } of [other, none, unable]) expect(tasks.map(({ id }) => id)).toEqual(['x1']);
  });

  it('reaches experts that do not state their needs or need evidence, but not one that wants none', () => {
    const expert = (id: string, needs: string[]) => ({
      id,
      capability: 'expert.general',
      task: id,
      query: null,
      needs,
      metadata_filters: null,
    });
    const research = { id: 'r1', capability: 'research', task: 'r', query: 'r', needs: [], metadata_filters: null };
    const planned = withLearned([research, expert('x1', ['r1']), expert('x2', [])], null);
    expect(planned.map(({ id, needs }) => [id, ...needs])).toEqual([['learned'], ['r1'], ['x1', 'learned', 'r1'], ['x2']]);
    const asks = [{ ...research, id: 'g', capability: 'graph' }, expert('x1', ['g'])];
    expect(withLearned(asks, null)).toEqual(asks);
  });
});
