import { describe, expect, it, jest } from '@jest/globals';
import { Configuration, Template } from '@conclave/contracts';
import type { ModelInfo, Models, ProviderStatus } from '@conclave/ports';
import * as z from 'zod';
import { noOffers, resolveTemplates } from './resolve-templates.js';
import { openCatalogue } from './template-catalogue.js';

const strategies = ['single-pass', 'agentic', 'waves', 'reflective-rag', 'decompose', 'adaptive'].map((id) => ({
  id,
  callsTools: id === 'waves',
  options: z.strictObject({ depth: z.int().default(id === 'waves' ? 5 : 1) }),
}));
const capabilities = ['research', 'math', 'mcp', 'graph', 'collections'].map((name) => ({ name, taskClass: 'evidence' }));
const expertPrompts = { general: 'You answer.', math: 'You calculate.' };
const model = (ref: string, more: Partial<ModelInfo> = {}): ModelInfo => ({
  ref,
  model: ref.split('@')[0]!,
  provider: ref.split('@')[1]!,
  context: null,
  price: null,
  local: true,
  demo: false,
  kind: 'chat',
  ...more,
});
const provider = (name: string, more: Partial<ProviderStatus> = {}): ProviderStatus => ({
  name,
  reachable: true,
  local: true,
  paid: false,
  note: '',
  maxConcurrency: 1,
  ...more,
});
const demo = model('demo@demo', { demo: true });
const demoProvider = provider('demo');

const resolve = (yaml: object, models: readonly ModelInfo[], providers: readonly ProviderStatus[], canSearch = true) =>
  resolveTemplates({
    configuration: Configuration.parse(yaml),
    models,
    providers,
    expertPrompts,
    strategies,
    capabilities,
    canSearch,
    canRecall: false,
    offers: noOffers,
  });

describe('the shipped templates', () => {
  it('exist without any file, on the demo model', () => {
    const { templates, choice, warnings } = resolve({}, [demo], [demoProvider]);
    expect(choice.because).toBe('demo');
    // The demo model has no knowledge: each question is answered from the documents, and repeating it does not help.
    for (const template of templates) expect(template).toMatchObject({ complexity: 'moderate', refine_rounds: 0 });
    expect(warnings).toEqual([]);
    expect(templates.map(({ id, strategy, max_agentic_rounds, gap_check }) => [id, strategy, max_agentic_rounds, gap_check])).toEqual([
      ['conclave-fast', 'single-pass', 0, 'evidence'],
      ['conclave', 'agentic', 3, 'evidence'],
      ['conclave-research', 'agentic', 4, 'evidence'],
    ]);
    for (const template of templates) {
      expect(Template.parse(template)).toEqual(template);
      expect(template.experts.general).toEqual({ t1: ['demo@demo'], t2: [], always: [], prompt: 'You answer.' });
      expect(template.limits).toEqual({
        wall_time_s: 300,
        model_calls: 60,
        prompt_tokens: 80_000,
        tokens: 200_000,
        cost: null,
        concurrent_tasks: 8,
      });
      expect(template).toMatchObject({
        task_timeout_s: 240,
        start_timeout_s: 30,
        planning_timeout_s: 120,
        capabilities: ['research', 'math'],
        classes: { expert: 'expert', research: 'evidence', judge: 'judge' },
      });
    }
  });

  it('spread several models found on this machine over their parts, and those of an operator do not', () => {
    const found = ['llama3.1:8b', 'qwen2.5-coder:7b', 'qwen3:0.6b', 'gemma3:27b', 'phi4:14b'].map((name) =>
      model(`${name}@ollama`, { model: name }),
    );
    const { templates, choice } = resolve({ templates: { mine: { strategy: 'agentic' } } }, found, [provider('ollama')]);
    const shipped = templates.find(({ id }) => id === 'conclave')!;
    expect(shipped.experts.general).toMatchObject({ t1: ['phi4:14b@ollama', 'llama3.1:8b@ollama'], t2: ['gemma3:27b@ollama'] });
    expect(shipped.judge.models).toEqual(['gemma3:27b@ollama']);
    expect(shipped.planner.models).toEqual(['gemma3:27b@ollama']);
    expect(templates.find(({ id }) => id === 'mine')!.experts.general).toMatchObject({ t1: ['gemma3:27b@ollama'], t2: [] });
    expect(choice.roles).toMatchObject({ code: ['qwen2.5-coder:7b@ollama'] });
    expect(resolve({ templates: { mine: { strategy: 'agentic' } } }, found, [provider('ollama')]).templates).toEqual(templates);
  });

  it('spread the models of a configured local server too, if the size of each is known, and no others', () => {
    const configured = { providers: { local: { base_url: 'http://127.0.0.1:1/v1' } } };
    const parts = (names: readonly string[], more: Partial<ModelInfo> = {}, yaml: object = configured) =>
      resolve(
        yaml,
        names.map((name) => model(`${name}@local`, more)),
        [provider('local')],
      ).templates.find(({ id }) => id === 'conclave')!;
    const sized = ['qwen2.5:1.5b', 'qwen3:8b', 'llama-3.3-70b'];
    expect(parts(sized)).toMatchObject({ judge: { models: ['llama-3.3-70b@local'] }, experts: { general: { t1: ['qwen3:8b@local'] } } });
    const first = (one: string) => ({ judge: { models: [`${one}@local`] }, experts: { general: { t1: [`${one}@local`] } } });
    expect(parts(['assistant', ...sized])).toMatchObject(first('assistant'));
    expect(parts(sized, { local: false })).toMatchObject(first('qwen2.5:1.5b'));
    expect(parts(sized, {}, { ...configured, models: { 'qwen3:8b@local': {} } })).toMatchObject(first('qwen3:8b'));
  });

  it('use a model found on this machine before the demo, and never an embedding model', () => {
    const { choice } = resolve(
      {},
      [demo, model('embed@ollama', { kind: 'embedding' }), model('qwen@ollama')],
      [provider('ollama'), demoProvider],
    );
    expect(choice).toMatchObject({ because: 'local', models: [{ ref: 'qwen@ollama' }] });
  });

  it('never use a paid model only because the environment contains a key', () => {
    const { choice } = resolve(
      {},
      [model('big@openai', { local: false }), demo],
      [provider('openai', { paid: true, local: false }), demoProvider],
    );
    expect(choice.because).toBe('demo');
  });

  it('use a local model before a configured paid one', () => {
    const configured = { providers: { cloud: { base_url: 'https://models.example/v1' } } };
    const { choice } = resolve(
      configured,
      [model('big@cloud', { local: false }), model('qwen@ollama')],
      [provider('cloud', { paid: true, local: false }), provider('ollama')],
    );
    expect(choice).toMatchObject({ because: 'local', models: [{ ref: 'qwen@ollama' }] });
  });

  it('name a paid model and cap its cost when nothing else was configured', () => {
    const configured = {
      providers: { cloud: { base_url: 'https://models.example/v1' } },
      models: { 'big@cloud': { price: { input: 1, output: 2 } } },
    };
    const { choice, templates, warnings } = resolve(
      configured,
      [model('big@cloud', { local: false, price: { input: 1, output: 2 } })],
      [provider('cloud', { paid: true, local: false })],
    );
    expect(choice.because).toBe('paid');
    expect([...new Set(templates.map(({ limits }) => limits.cost))]).toEqual([0.5]);
    expect(warnings.join()).toContain('paid model big@cloud');
  });

  it('use the model that the file lists first', () => {
    const configured = {
      providers: { local: { base_url: 'http://127.0.0.1:1/v1' } },
      models: { 'b@local': { context: 4096 }, 'a@local': {} },
    };
    const { templates } = resolve(configured, [model('a@local'), model('b@local')], [provider('local')]);
    expect(templates[0]).toMatchObject({ planner: { models: ['b@local'] }, contexts: { 'b@local': 4096 } });
  });

  it('do not fall back to the demo model while a configured server is down', () => {
    const configured = { providers: { local: { base_url: 'http://127.0.0.1:1/v1' } } };
    const { templates, choice } = resolve(configured, [demo], [provider('local', { reachable: false }), demoProvider]);
    expect(choice.because).toBe('nothing');
    expect(templates).toEqual([]);
  });

  it('offer no research if there is nothing to search', () => {
    const { templates, warnings } = resolve({}, [demo], [demoProvider], false);
    expect(templates.every(({ capabilities }) => !capabilities.includes('research'))).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('have a version that follows the content and nothing else', () => {
    const version = (yaml: object, prompts = expertPrompts, known = { strategies, capabilities }) =>
      resolveTemplates({
        configuration: Configuration.parse(yaml),
        models: [demo],
        providers: [demoProvider],
        expertPrompts: prompts,
        ...known,
        canSearch: true,
        canRecall: false,
        offers: noOffers,
      }).templates.find(({ id }) => id === 'conclave')!.version;
    expect(version({})).toBe(version({ store_prompts: 'none' }));
    expect(version({})).not.toBe(version({}, { ...expertPrompts, general: 'You answer briefly.' }));
    // A changed module is different content: its earlier answers must not be served as those of the current code.
    const byModule = (of: string) => ({
      strategies: strategies.map((one) => ({ ...one, version: of })),
      capabilities: capabilities.map((one) => ({ ...one, version: `${of}c` })),
    });
    expect(version({}, expertPrompts, byModule('1'))).not.toBe(version({}, expertPrompts, byModule('2')));
    expect(version({}, expertPrompts, byModule('1'))).not.toBe(version({}));
  });
});

describe('templates of an operator', () => {
  it("say what happens to tools of clients, which the judge's model gets unless another one is named", () => {
    const { templates, warnings } = resolve(
      {
        mcp: { precision: { builtin: 'precision-tools' } },
        templates: {
          mine: {
            experts: { general: { t2: ['x@ollama'], always: ['y@ollama'] } },
            capabilities: ['research', 'math', 'mcp', 'collections'],
            client_tools: 'ask_first',
          },
          other: { client_tools: 'pass_through', tool_model: 'x@ollama' },
        },
      },
      [demo],
      [demoProvider],
    );
    expect(templates.map(({ id }) => id)).toEqual(['mine', 'other', 'conclave-fast', 'conclave', 'conclave-research']);
    expect(templates.map(({ client_tools: tools, tool_model: of }) => [tools, of])).toEqual([
      ['ask_first', templates[0]!.judge.models[0]],
      ['pass_through', 'x@ollama'],
      ...Array.from({ length: 3 }, () => [undefined, undefined]),
    ]);
    expect(templates[0]).toMatchObject({
      // Offers tools and collections once they exist.
      capabilities: ['research', 'math'],
      complexity: 'auto',
      refine_rounds: 1,
      critic: { categories: ['medical_consult', 'legal_advisor'] },
      experts: { general: { t2: ['x@ollama'], always: ['y@ollama'] } },
    });
    expect(warnings.filter((sentence) => sentence.includes('client_tools'))).toEqual([]);
  });

  const ollama = [[model('big@ollama')], [provider('ollama')]] as const;
  const tool = { name: 'stock.count', description: 'Counts', signature: 'item: string', readOnly: true };
  const withTools = (yaml: object, tools = [tool]) =>
    resolveTemplates({
      ...{ configuration: Configuration.parse(yaml), models: ollama[0], providers: ollama[1], expertPrompts, strategies, capabilities },
      ...{ canSearch: false, canRecall: false, offers: { ...noOffers, tools } },
    });

  it('have the options of their strategy, with its defaults', () => {
    const { templates } = withTools({ templates: { a: { strategy: 'waves' }, b: { strategy: 'waves', options: { depth: 2 } } } });
    expect(templates.slice(0, 2).map(({ options, tools }) => [options, tools])).toEqual([
      [{ depth: 5 }, [tool]],
      [{ depth: 2 }, [tool]],
    ]);
  });

  it.each([
    [{ strategy: 'waves', options: { dept: 2 } }, 'templates.a.options'],
    [{ strategy: 'waves', options: { depth: 'two' } }, 'templates.a.options.depth'],
    [{ strategy: 'own' }, 'there is no strategy own'],
  ])('are refused if their strategy does not know an option: %j', (template, words) => {
    expect(() => withTools({ templates: { a: template } })).toThrow(words);
  });

  it('of waves are offered if there are tools, and nowhere once waves are switched off', () => {
    const ids = (...given: Parameters<typeof withTools>) => withTools(...given).templates.map(({ id }) => id);
    expect(ids({})).toContain('conclave-waves');
    expect(ids({}, [])).not.toContain('conclave-waves');
    expect(ids({ waves: { enabled: false }, templates: { mine: { strategy: 'waves' } } })).toEqual([
      'conclave-fast',
      'conclave',
      'conclave-research',
      'conclave-adaptive',
    ]);
  });

  it('of reflective-rag are offered if there is something to search, and not with the demo', () => {
    const offered = (
      canSearch: boolean,
      tenantCollections: boolean,
      [models, providers] = ollama as unknown as [ModelInfo[], ProviderStatus[]],
    ) =>
      resolveTemplates({
        ...{ configuration: Configuration.parse({}), models, providers, expertPrompts, strategies, capabilities },
        ...{ canSearch, canRecall: false, offers: { ...noOffers, tenantCollections } },
      }).templates.some(({ id }) => id === 'conclave-reflective-rag');
    expect(offered(false, false)).toBe(false);
    expect([offered(true, false), offered(false, true)]).toEqual([true, true]);
    expect(offered(true, true, [[demo], [demoProvider]])).toBe(false);
  });

  it('replace a shipped template of the same name', () => {
    const { templates } = resolve({ templates: { conclave: { max_agentic_rounds: 1 } } }, [demo], [demoProvider]);
    expect(templates.filter(({ id }) => id === 'conclave').map((one) => [one.max_agentic_rounds, one.gap_check])).toEqual([[1, 'answer']]);
  });

  it('send capabilities to the task class that an operator made for them', () => {
    const { templates } = resolve({ task_classes: { gpu: { capabilities: ['expert.math'] } } }, [demo], [demoProvider]);
    expect(templates[0]?.classes).toMatchObject({ expert: 'expert', 'expert.math': 'gpu' });
  });
});

describe('the catalogue', () => {
  const models = (list: () => readonly ModelInfo[], providers: readonly ProviderStatus[]): Models => ({
    list: async () => list(),
    providers: async () => providers,
    call: () => Promise.reject(new Error('not called here')),
    pass: () => Promise.reject(new Error('not called here')),
    close: async () => {},
  });

  it('resolves templates, aliases and models of known providers, and nothing else', async () => {
    const configuration = Configuration.parse({ aliases: { 'gpt-4o': 'conclave-fast', small: 'qwen@ollama' } });
    const found = [model('qwen@ollama'), model('embed@ollama', { kind: 'embedding' })];
    const catalogue = await openCatalogue({
      configuration,
      expertPrompts,
      strategies,
      capabilities,
      canSearch: true,
      models: models(() => found, [provider('ollama')]),
    });
    expect(catalogue.resolve('conclave')).toMatchObject({ kind: 'template', template: { id: 'conclave' } });
    expect(catalogue.resolve('gpt-4o')).toMatchObject({ kind: 'template', template: { id: 'conclave-fast' } });
    expect(catalogue.resolve('small')).toEqual({ kind: 'model', ref: 'qwen@ollama' });
    expect(catalogue.resolve('qwen@ollama')).toEqual({ kind: 'model', ref: 'qwen@ollama' });
    expect(catalogue.resolve('embed@ollama')).toBeNull();
    expect(catalogue.resolve('qwen@nowhere')).toBeNull();
    expect(catalogue.resolve('constructor')).toBeNull();
    expect(await catalogue.waitsFor('conclave')).toBeNull();
    expect([catalogue.resolveEmbedding('embed@ollama'), catalogue.resolveEmbedding('embed@nobody')]).toEqual(['embed@ollama', null]);
    const described = await catalogue.describeModels();
    expect(described.flatMap(({ id, kind }) => (kind === 'embedding' ? [id] : []))).toEqual(['embed@ollama']);
    expect(described.flatMap(({ id, kind }) => (kind === undefined ? [id] : []))).toEqual([
      'conclave-fast',
      'conclave',
      'conclave-research',
      'conclave-reflective-rag',
      'conclave-decompose',
      'conclave-adaptive',
      'gpt-4o',
      'small',
      'qwen@ollama',
    ]);
  });

  it('spreads the parts again when models appear on this machine, and keeps them while its server is busy', async () => {
    let found: readonly ModelInfo[] = [model('qwen3:8b@ollama', { model: 'qwen3:8b' })];
    const catalogue = await openCatalogue({
      configuration: Configuration.parse({}),
      ...{ expertPrompts, strategies, capabilities, canSearch: true, localAgainMs: 0, models: models(() => found, [provider('ollama')]) },
    });
    const parts = async (): Promise<unknown> => {
      catalogue.templates();
      await new Promise((resolve) => setImmediate(resolve));
      const { judge, experts } = catalogue.templates()[0]!;
      return [judge.models, experts.general!.t1];
    };
    expect(await parts()).toEqual([['qwen3:8b@ollama'], ['qwen3:8b@ollama']]);
    found = [...found, model('qwen3:32b@ollama', { model: 'qwen3:32b' })];
    await parts();
    expect(await parts()).toEqual([['qwen3:32b@ollama'], ['qwen3:8b@ollama']]);
    found = [];
    await parts();
    expect(await parts()).toEqual([['qwen3:32b@ollama'], ['qwen3:8b@ollama']]);
  });

  it('name the model servers for which a template waits, and are available once one answers', async () => {
    const status = provider('fake', { reachable: false, note: 'The model server does not answer.' });
    let found: readonly ModelInfo[] = [];
    const configuration = Configuration.parse({
      providers: { fake: { base_url: 'http://127.0.0.1:9/v1' } },
      aliases: { 'gpt-4o': 'conclave-fast' },
    });
    const statuses = [status];
    const catalogue = await openCatalogue({
      configuration,
      expertPrompts,
      strategies,
      capabilities,
      canSearch: true,
      models: models(() => found, statuses),
    });
    expect(catalogue.resolve('conclave')).toBeNull();
    expect(await catalogue.waitsFor('conclave')).toBe('fake: The model server does not answer.');
    expect(await catalogue.waitsFor('gpt-4o')).toBe('fake: The model server does not answer.');
    expect(await catalogue.waitsFor('nobody')).toBeNull();
    found = [model('qwen@fake')];
    statuses[0] = provider('fake');
    const later = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 6_000);
    expect(await catalogue.waitsFor('gpt-4o')).toBeNull();
    later.mockRestore();
    expect(catalogue.resolve('gpt-4o')).toMatchObject({ kind: 'template', template: { id: 'conclave-fast' } });
  });

  it('delivers the prompts and tools of the settings two seconds after they changed', async () => {
    const offers = { ...noOffers, tools: [{ name: 'a.b', description: 'c', signature: 'd', readOnly: true }] };
    let now: typeof noOffers | Error = offers;
    let slow: Promise<void> | null = null;
    const failed: unknown[] = [];
    const catalogue = await openCatalogue({
      configuration: Configuration.parse({}),
      expertPrompts,
      strategies,
      capabilities,
      canSearch: true,
      models: models(() => [model('qwen@ollama')], [provider('ollama')]),
      offers: async () => {
        await slow;
        if (now instanceof Error) throw now;
        return now;
      },
      onOffersFailed: (error) => void failed.push(error),
    });
    const template = () => catalogue.templates().find(({ id }) => id === 'conclave')!;
    expect(template()).toMatchObject({ tools: offers.tools, prompts: {} });
    expect(template().capabilities).toContain('mcp');
    const first = template().version;
    const past = (ms: number) => jest.spyOn(performance, 'now').mockReturnValue(performance.now() + ms);
    now = { ...offers, prompts: { composer: 'Mine.' } };
    await catalogue.upToDate();
    expect(template().prompts).toEqual({});
    past(2_500);
    await catalogue.upToDate();
    expect([template().prompts, template().version === first]).toEqual([{ composer: 'Mine.' }, false]);
    now = new Error('away');
    past(2_500);
    await catalogue.upToDate();
    expect([template().prompts, failed]).toEqual([{ composer: 'Mine.' }, [now]]);
    slow = new Promise(() => undefined);
    past(2_500);
    const began = Date.now();
    await catalogue.upToDate();
    expect(Date.now() - began).toBeLessThan(5_000);
    jest.restoreAllMocks();
  });

  it('warns once about the tools of a server that was added and that no template may call', async () => {
    let now = noOffers;
    const warned: string[] = [];
    const catalogue = await openCatalogue({
      configuration: Configuration.parse({ mcp: { web: { url: 'http://127.0.0.1:9/mcp' } } }),
      expertPrompts,
      strategies,
      capabilities,
      canSearch: true,
      models: models(() => [model('qwen@ollama')], [provider('ollama')]),
      offers: async () => now,
      onWarning: (warning) => void warned.push(warning),
    });
    const fetch = { name: 'web.fetch', description: '', signature: '', readOnly: false };
    for (const tools of [[fetch], [{ ...fetch, description: 'Fetches.' }], [fetch, { ...fetch, name: 'web.post' }]]) {
      now = { ...noOffers, tools };
      await catalogue.refresh();
    }
    expect(warned).toEqual([
      expect.stringMatching(/^No template may call these tools, .*: web\.fetch\. Name them/),
      expect.stringMatching(/: web\.fetch, web\.post\. Name them/),
    ]);
  });

  it('shows a change that a slow reading has missed two seconds after that reading began', async () => {
    let now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    let stored = noOffers;
    let written: Promise<void> | null = null;
    const catalogue = await openCatalogue({
      configuration: Configuration.parse({}),
      expertPrompts,
      strategies,
      capabilities,
      canSearch: true,
      models: models(() => [model('qwen@ollama')], [provider('ollama')]),
      offers: async () => {
        const read = stored;
        await written;
        return read;
      },
    });
    const prompts = () => catalogue.templates().find(({ id }) => id === 'conclave')!.prompts;
    now += 2_500;
    let release = (): void => undefined;
    written = new Promise((resolve) => (release = resolve));
    const reading = catalogue.upToDate();
    // Read before the change; the answer comes 1.5 s later.
    stored = { ...noOffers, prompts: { composer: 'Mine.' } };
    now += 1_500;
    release();
    await reading;
    expect(prompts()).toEqual({});
    now += 600;
    await catalogue.upToDate();
    expect(prompts()).toEqual({ composer: 'Mine.' });
    clock.mockRestore();
  });

  it('keeps the capability of collections for tenants that may have some', () => {
    const offering = (tenantCollections: boolean) =>
      resolveTemplates({
        configuration: Configuration.parse({}),
        models: [demo],
        providers: [demoProvider],
        expertPrompts,
        strategies,
        capabilities,
        canSearch: true,
        canRecall: false,
        offers: { ...noOffers, tenantCollections },
      }).templates[0]!.capabilities.includes('collections');
    expect([offering(true), offering(false)]).toEqual([true, false]);
  });
});
