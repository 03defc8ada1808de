import { describe, expect, it } from '@jest/globals';
import { Configuration, type StoredTemplateOptions, TemplateTuning } from '@conclave/contracts';
import type { ModelInfo, ProviderStatus } from '@conclave/ports';
import * as z from 'zod';
import { noOffers, resolveTemplates } from './resolve-templates.js';
import { modelsToChoose, type TuningGround, tuningFaults } from './tuning.js';

const model = (ref: string, more: Partial<ModelInfo> = {}): ModelInfo => {
  const [name = '', provider = ''] = ref.split('@');
  return { ref, model: name, provider, context: null, price: null, local: true, demo: false, kind: 'chat', ...more };
};
const provider = (name: string, more: Partial<ProviderStatus> = {}): ProviderStatus => ({
  ...{ name, reachable: true, local: true, paid: false, note: '', maxConcurrency: 1 },
  ...more,
});
const models = [
  model('small@box'),
  model('large@box'),
  model('vectors@box', { kind: 'embedding' }),
  model('cloudy@cloud', { local: false, price: { input: 1, output: 2 } }),
];
const providers = [provider('box'), provider('cloud', { local: false, paid: true }), provider('asleep', { reachable: false })];

const ground: TuningGround = {
  ...{ strategy: 'agentic', localOnly: false, categories: ['general', 'math'], models, providers },
  configured: Configuration.parse({ models: { 'named@asleep': {} }, providers: { asleep: { base_url: 'http://127.0.0.1:1/v1' } } }).models,
};
const faults = (tuning: object, more: Partial<TuningGround> = {}): readonly string[] =>
  tuningFaults(TemplateTuning.parse(tuning), { ...ground, ...more }).map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('a change of the models of a template', () => {
  it('accepts available models, and models of the file whose server does not answer', () => {
    const experts = { math: { t1: ['large@box', 'cloudy@cloud'], t2: ['named@asleep'], always: ['small@box'] } };
    expect(faults({ planner: { model: 'small@box' }, judge: { models: ['large@box'] }, experts })).toEqual([]);
  });

  it.each([
    [{ judge: { models: ['large@box', 'large@bax'] } }, 'judge.models.1: There is no provider bax. Did you mean box?'],
    [{ planner: { model: 'large@nowhere' } }, 'planner.model: There is no provider nowhere. There are: box, cloud, asleep.'],
    [{ judge: { model: 'larg@box' } }, 'judge.model: box has no model larg. Did you mean large@box?'],
    [{ judge: { model: 'gigantic@box' } }, 'judge.model: box has no model gigantic. It has: small@box, large@box.'],
    [{ judge: { model: 'vectors@box' } }, 'judge.model: vectors@box makes vectors and cannot be asked.'],
    [{ judge: { model: 'x@asleep' } }, 'judge.model: asleep does not answer now'],
    [{ judge: { model: 'small@box', models: ['large@box'] } }, 'judge.models: `model` and `models` are both set.'],
    [{ experts: { math: { always: ['y@box'] } } }, 'experts.math.always.0: box has no model y.'],
    [{ experts: { law: { t1: ['small@box'] } } }, 'experts.law: The template has no experts of the category law. It has: general, math.'],
  ])('refuses %j', (tuning, words) => {
    expect(faults(tuning)).toEqual([expect.stringContaining(words)]);
  });

  it('keeps a template that may not leave the network inside it, and offers it no other model', () => {
    expect(faults({ judge: { model: 'cloudy@cloud' } }, { localOnly: true })).toEqual([
      'judge.model: The template is local_only, and cloudy@cloud is outside this network.',
    ]);
    expect(modelsToChoose({ ...ground, localOnly: true })).toEqual(['small@box', 'large@box']);
    expect(modelsToChoose(ground)).toEqual(['small@box', 'large@box', 'cloudy@cloud']);
  });

  it('asks single-pass for no re-plans', () => {
    expect(faults({ max_agentic_rounds: 2 }, { strategy: 'single-pass' })).toEqual([
      'max_agentic_rounds: The strategy single-pass makes no re-plans.',
    ]);
    expect(faults({ max_agentic_rounds: 2 })).toEqual([]);
  });
});

describe('a template that was changed', () => {
  const resolved = (settings: object | null, yaml: object = {}, strategy = 'agentic') => {
    const stored = { strategy, options: {}, ...(settings ? { settings: TemplateTuning.parse(settings) } : {}) } as StoredTemplateOptions;
    const { templates, warnings } = resolveTemplates({
      ...{ configuration: Configuration.parse(yaml), models, providers, expertPrompts: { general: 'Answer.', math: 'Calculate.' } },
      strategies: ['agentic', 'single-pass'].map((id) => ({
        id,
        options: z.strictObject({ tier: z.string().optional() }),
        means: ({ tier }: Record<string, unknown>) => (tier ? { models: ['large@box'] } : {}),
      })),
      capabilities: ['research', 'math', 'mcp', 'graph', 'collections'].map((name) => ({ name, taskClass: 'evidence' })),
      ...{ canSearch: true, canRecall: false, offers: { ...noOffers, options: { conclave: stored } } },
    });
    return { template: templates.find(({ id }) => id === 'conclave')!, warnings };
  };

  it('has the changed models, limits and rounds, another version, and everything else as before', () => {
    const before = resolved(null).template;
    const { template, warnings } = resolved({
      ...{ max_agentic_rounds: 1, thinking: false, limits: { tokens: 9_000 }, judge: { models: ['large@box', 'small@box'] } },
      experts: { math: { t2: ['large@box'] } },
    });
    expect(warnings).toEqual([]);
    expect(template).toMatchObject({ max_agentic_rounds: 1, thinking: false, judge: { models: ['large@box', 'small@box'] } });
    expect(template.limits).toEqual({ ...before.limits, tokens: 9_000 });
    expect(template.planner).toEqual(before.planner);
    // A change of one category leaves the others.
    expect(Object.keys(template.experts)).toEqual(['general', 'math']);
    expect(template.experts['general']).toEqual(before.experts['general']);
    expect(template.experts['math']).toEqual({ ...before.experts['math'], t2: ['large@box'] });
    expect(template.version).not.toBe(before.version);
    expect(resolved({}).template).toEqual(before);
  });

  it('gives the models of `general` to the categories that name none', () => {
    const { template } = resolved({ experts: { general: { t1: ['large@box'] } } });
    expect(Object.values(template.experts).map(({ t1 }) => t1)).toEqual([['large@box'], ['large@box']]);
  });

  it('has the model that was named for a role, even if an option of the strategy names one for both', () => {
    const yaml = { templates: { conclave: { options: { tier: 'heavy' } } } };
    const { planner, judge } = resolved({ judge: { model: 'small@box' } }, yaml).template;
    expect([planner.models, judge.models]).toEqual([['large@box'], ['small@box']]);
  });

  it('has a capped cost if it is a shipped template and got a paid model', () => {
    expect(resolved(null).template.limits.cost).toBeNull();
    expect(resolved({ judge: { model: 'cloudy@cloud' } }).template.limits.cost).toBe(0.5);
    expect(resolved({ judge: { model: 'cloudy@cloud' }, limits: { cost: 3 } }).template.limits.cost).toBe(3);
  });

  it('leaves out models that the file no longer allows, with a warning', () => {
    const { template, warnings } = resolved({ judge: { models: ['old@gone', 'large@box'] }, planner: { model: 'old@gone' } });
    expect(template.judge.models).toEqual(['large@box']);
    expect(template.planner).toEqual(resolved(null).template.planner);
    expect(warnings).toEqual(['Template conclave was changed to models that it cannot use any more: old@gone. They are left out.']);
    const local = resolved({ judge: { models: ['cloudy@cloud', 'small@box'] } }, { templates: { conclave: { local_only: true } } });
    expect(local.template.judge.models).toEqual(['small@box']);
    expect(local.warnings.join()).toContain('cloudy@cloud. They are left out.');
  });

  it('is as in the file once the file names another strategy', () => {
    const yaml = { templates: { conclave: { strategy: 'single-pass' } } };
    expect(resolved({ judge: { model: 'large@box' } }, yaml).template).toEqual(resolved(null, yaml).template);
  });
});
