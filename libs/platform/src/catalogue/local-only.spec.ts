import { describe, expect, it, jest } from '@jest/globals';
import { Configuration } from '@conclave/contracts';
import type { ModelInfo, Models, ProviderStatus } from '@conclave/ports';
import * as z from 'zod';
import { resolveTemplates, noOffers } from './resolve-templates.js';
import { openCatalogue } from './template-catalogue.js';

const model = (ref: string, local: boolean): ModelInfo => ({
  ...{ ref, model: ref.split('@')[0]!, provider: ref.split('@')[1]!, context: null, price: null, local, demo: false, kind: 'chat' },
});
const provider = (name: string, local: boolean): ProviderStatus => ({
  ...{ name, reachable: true, local, paid: false, note: '', maxConcurrency: 1 },
});
const address = (host: string) => ({ base_url: `http://${host}/v1` });
const providers = { near: address('127.0.0.1:9'), far: address('models.example.com') };
const strategies = [
  { id: 'agentic', options: z.strictObject({}) },
  {
    id: 'decompose',
    options: z.strictObject({ child: z.string().nullable().default(null) }),
    startsRuns: ({ child }: Readonly<Record<string, unknown>>) => (typeof child === 'string' ? [child] : []),
  },
];
const both = [model('big@far', false), model('small@near', true)];
const statuses = [provider('far', false), provider('near', true)];
const input = (yaml: object) => ({
  configuration: Configuration.parse({ providers, ...yaml }),
  ...{ expertPrompts: { general: 'You answer.' }, strategies, canSearch: true, canRecall: false },
  capabilities: ['research', 'math', 'mcp', 'graph', 'collections'].map((name) => ({ name, taskClass: 'evidence' })),
});
const resolved = (yaml: object, models = both) => resolveTemplates({ ...input(yaml), models, providers: statuses, offers: noOffers });
const problems = (yaml: object, models = both) => resolved(yaml, models).problems;
const quiet = (more: object = {}) => ({ templates: { quiet: { local_only: true, ...more } } });

describe('a template that is `local_only`', () => {
  it('uses local models for every role that it does not name, even if others come first', () => {
    const { templates } = resolved({ models: { 'big@far': {} }, templates: { quiet: { local_only: true }, loud: {} } });
    const models = (id: string) => {
      const { planner, judge, experts } = templates.find((one) => one.id === id)!;
      return [...new Set([...planner.models, ...judge.models, ...Object.values(experts).flatMap(({ t1, t2 = [] }) => [...t1, ...t2])])];
    };
    expect([models('quiet'), models('loud')]).toEqual([['small@near'], ['big@far']]);
    expect(templates.map(({ id, local_only: only }) => [id, only]).slice(0, 2)).toEqual([
      ['quiet', true],
      ['loud', undefined],
    ]);
  });

  it.each([
    ['planner', { planner: { model: 'big@far' } }],
    ['judge', { judge: { model: 'big@far' } }],
    ['expert', { experts: { law: { t1: ['small@near'], t2: ['big@far'] } } }],
    ['expert that always answers', { experts: { law: { t1: ['small@near'], always: ['big@far'] } } }],
    ['model for tools of clients', { client_tools: 'pass_through', tool_model: 'big@far' }],
  ])('is not offered with a model elsewhere as %s', (_, more) => {
    const { templates, problems: said } = resolved(quiet(more));
    expect(templates.map(({ id }) => id)).not.toContain('quiet');
    expect(said).toEqual(['templates.quiet is `local_only`, but its model big@far is outside this network.']);
  });

  it('is not offered with an embedder or a reranker elsewhere', () => {
    expect(problems({ ...quiet(), embeddings: { model: 'e@far' } })).toEqual([
      'templates.quiet is `local_only`, but `embeddings.model` is e@far, which is outside this network.',
    ]);
    expect(problems({ ...quiet(), rerank: { research: { model: 'r@far' }, collections: { model: 'r@near' } } })).toEqual([
      expect.stringContaining('`rerank.research.model` is r@far'),
    ]);
    expect(problems({ ...quiet(), embeddings: { model: 'e@near' } })).toEqual([]);
    expect(problems({ templates: { loud: {} }, embeddings: { model: 'e@far' } })).toEqual([]);
  });

  it('leads to no template without that setting, neither by a split nor by runs that it starts', () => {
    const loud = { judge: { model: 'small@near' } };
    const split = { local_only: true, split: { template: 'loud', share: 0.5 } };
    const parent = { local_only: true, strategy: 'decompose', options: { child: 'loud' } };
    for (const quietly of [split, parent]) {
      expect(problems({ templates: { quiet: quietly, loud } })).toEqual([
        'templates.quiet is `local_only`, but it leads to the template loud, which is not `local_only`.',
      ]);
      expect(problems({ templates: { quiet: quietly, loud: { ...loud, local_only: true } } })).toEqual([]);
    }
  });

  it('prevents a start that would break it, and is later unavailable while its servers are', async () => {
    let found = both;
    let prompts = {};
    const models: Models = {
      list: () => Promise.resolve(found),
      providers: () => Promise.resolve(statuses),
      call: () => Promise.reject(new Error('not used')),
      pass: () => Promise.reject(new Error('not used')),
      close: () => Promise.resolve(),
    };
    const open = (yaml: object) => openCatalogue({ ...input(yaml), models, offers: () => Promise.resolve({ ...noOffers, prompts }) });
    await expect(open(quiet({ judge: { model: 'big@far' } }))).rejects.toMatchObject({ code: 'CONFIGURATION_INVALID' });
    const catalogue = await open(quiet());
    const ids = () => catalogue.templates().map(({ id }) => id);
    expect(ids()).toContain('quiet');
    found = [model('big@far', false)];
    await expect(open(quiet())).rejects.toThrow('templates.quiet is `local_only`, and no model of this machine or its network was found.');
    prompts = { composer: 'Mine.' };
    await catalogue.refresh();
    expect(ids()).not.toContain('quiet');
    found = both;
    const later = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 6_000);
    while (!ids().includes('quiet')) await new Promise(setImmediate);
    later.mockRestore();
  });
});
