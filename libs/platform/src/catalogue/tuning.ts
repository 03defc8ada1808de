import { nearest, type Configuration, type TemplateSettings, type TemplateTuning } from '@conclave/contracts';
import { type ModelInfo, providerNameOf, type ProviderStatus } from '@conclave/ports';
import { staysLocal } from './local-only.js';

/** A fault of a change, with its place in the change. */
export interface TuningFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What a change is checked against: models and providers as they are now. */
export interface TuningGround {
  readonly strategy: string;
  readonly localOnly: boolean;
  /** Categories of the template; null while it is not offered. */
  readonly categories: readonly string[] | null;
  readonly models: readonly Pick<ModelInfo, 'ref' | 'provider' | 'kind'>[];
  readonly providers: readonly Pick<ProviderStatus, 'name' | 'reachable' | 'local'>[];
  /** Models that the configuration names, which a server need not list. */
  readonly configured: Configuration['models'];
}

type ExpertSettings = TemplateSettings['experts'][string];

const tiers = ['t1', 't2', 'always'] as const;

/** Models that a change names, with their places. */
function modelsIn({
  planner,
  judge,
  experts = {},
}: TemplateTuning): readonly { readonly ref: string; readonly path: readonly PropertyKey[] }[] {
  const listed = (refs: readonly string[] | undefined, path: readonly PropertyKey[]) =>
    (refs ?? []).map((ref, n) => ({ ref, path: [...path, n] }));
  return [
    ...Object.entries({ planner, judge }).flatMap(([role, given]) => [
      ...(given?.model ? [{ ref: given.model, path: [role, 'model'] }] : []),
      ...listed(given?.models, [role, 'models']),
    ]),
    ...Object.entries(experts).flatMap(([category, expert]) => tiers.flatMap((tier) => listed(expert[tier], ['experts', category, tier]))),
  ];
}

/** The faults of a change: models and providers that do not exist or that the template may not use, and settings without an effect. */
export function tuningFaults(tuning: TemplateTuning, ground: TuningGround): readonly TuningFault[] {
  const { strategy, categories } = ground;
  const both = (['planner', 'judge'] as const)
    .filter((role) => tuning[role]?.model && tuning[role].models)
    .map((role) => ({ path: [role, 'models'], message: '`model` and `models` are both set. Keep one of the two.' }));
  const strangers = Object.keys(tuning.experts ?? {})
    .filter((category) => categories !== null && !categories.includes(category))
    .map((category) => ({
      path: ['experts', category],
      message: `The template has no experts of the category ${category}. It has: ${categories!.join(', ')}.`,
    }));
  const rounds =
    strategy === 'single-pass' && (tuning.max_agentic_rounds ?? 0) > 0
      ? [{ path: ['max_agentic_rounds'], message: 'The strategy single-pass makes no re-plans.' }]
      : [];
  const models = modelsIn(tuning).flatMap(({ ref, path }) => {
    const message = faultOfModel(ref, ground);
    return message === null ? [] : [{ path, message }];
  });
  return [...both, ...strangers, ...rounds, ...models];
}

function faultOfModel(ref: string, { models, providers, configured, localOnly }: TuningGround): string | null {
  const name = providerNameOf(ref);
  const provider = providers.find((one) => one.name === name);
  if (!provider) {
    const names = providers.map((one) => one.name);
    const near = nearest(name, names);
    return `There is no provider ${name}. ${near ? `Did you mean ${near}?` : `There are: ${names.join(', ')}.`}`;
  }
  if (localOnly && !staysLocal(ref, providers)) return `The template is local_only, and ${ref} is outside this network.`;
  const found = models.find((model) => model.ref === ref);
  if (found?.kind === 'embedding') return `${ref} makes vectors and cannot be asked.`;
  if (found || ref in configured) return null;
  if (!provider.reachable)
    return `${name} does not answer now, so it is unknown whether it has this model. Name it under models in conclave.yaml, or try again.`;
  const own = models.filter((model) => model.provider === name && model.kind === 'chat').map((model) => model.ref);
  const near = nearest(ref, own);
  const offer = near
    ? `Did you mean ${near}?`
    : own.length > 0
      ? `It has: ${own.slice(0, 10).join(', ')}${own.length > 10 ? ', ...' : ''}.`
      : '';
  return `${name} has no model ${ref.slice(0, ref.lastIndexOf('@'))}. ${offer}`.trim();
}

/** Models that can be named for a template, in the order in which they were found. */
export const modelsToChoose = ({ models, providers, localOnly }: TuningGround): readonly string[] =>
  models.filter(({ kind, ref }) => kind === 'chat' && (!localOnly || staysLocal(ref, providers))).map(({ ref }) => ref);

/**
 * A template's settings with the changes that were made while the system runs. Experts are returned separately: their categories are those
 * of the file. Omits models that the file no longer allows, and names them in `gone`: models of a removed provider, and outside models of a
 * `local_only` template.
 */
export function tuned(
  settings: TemplateSettings,
  tuning: TemplateTuning | undefined,
  providers: readonly Pick<ProviderStatus, 'name' | 'local'>[],
): { readonly settings: TemplateSettings; readonly experts: Readonly<Record<string, ExpertSettings>>; readonly gone: readonly string[] } {
  if (!tuning) return { settings, experts: {}, gone: [] };
  const mayStay = (ref: string): boolean =>
    settings.local_only ? staysLocal(ref, providers) : providers.some(({ name }) => name === providerNameOf(ref));
  const gone = new Set(modelsIn(tuning).flatMap(({ ref }) => (mayStay(ref) ? [] : [ref])));
  const left = (refs: readonly string[] | undefined): string[] | undefined => {
    const kept = (refs ?? []).filter((ref) => !gone.has(ref));
    return kept.length > 0 ? kept : undefined;
  };
  const role = (which: 'planner' | 'judge') => {
    const models = left(tuning[which]?.models ?? (tuning[which]?.model ? [tuning[which].model] : undefined));
    return models ? { ...settings[which], model: undefined, models } : settings[which];
  };
  const experts = Object.entries(tuning.experts ?? {}).map(([category, expert]) => [
    category,
    Object.fromEntries(tiers.flatMap((tier) => (left(expert[tier]) ? [[tier, left(expert[tier])]] : []))),
  ]);
  const { max_agentic_rounds, refine_rounds, thinking, task_timeout_s, limits } = tuning;
  const set = Object.entries({ max_agentic_rounds, refine_rounds, thinking, task_timeout_s }).filter(([, value]) => value !== undefined);
  return {
    settings: {
      ...settings,
      ...(Object.fromEntries(set) as Partial<TemplateSettings>),
      limits: { ...settings.limits, ...limits },
      planner: role('planner'),
      judge: role('judge'),
    },
    experts: Object.fromEntries(experts) as Record<string, ExpertSettings>,
    gone: [...gone],
  };
}
