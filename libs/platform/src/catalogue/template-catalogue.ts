import pTimeout from 'p-timeout';
import {
  type AliasTarget,
  choiceOf,
  Failure,
  type ModelChoice,
  shippedTemplates,
  type Configuration,
  type Template,
  type TemplateTuning,
} from '@conclave/contracts';
import type { ModelInfo, Models, ProviderStatus } from '@conclave/ports';
import { noOffers, resolveTemplates, type Offers, type ResolvedTemplates, type TemplateInput } from './resolve-templates.js';
import { modelsToChoose, type TuningFault, tuningFaults, type TuningGround } from './tuning.js';

export type ResolvedName =
  | { readonly kind: 'template'; readonly template: Template }
  | { readonly kind: 'model'; readonly ref: string }
  | ({ readonly kind: 'models' } & ModelChoice);
export interface NamedModel {
  readonly id: string;
  /** `conclave` for templates and aliases, else the provider. */
  readonly ownedBy: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly description?: string;
  /** Strategy of the runs, if this is a template. */
  readonly strategy?: string;
  /** `embedding`: the model makes vectors and cannot chat. Absent: it can chat. */
  readonly kind?: 'embedding';
}

/** Templates, aliases and models by the names clients use. */
export interface TemplateCatalogue {
  templates(): readonly Template[];
  /** Null for an unknown name. An alias of a template returns the template. */
  resolve(name: string): ResolvedName | null;
  /**
   * Null unless the name is a template that no model can serve because model servers do not answer. Then returns a sentence that names
   * them, after another search for models.
   */
  waitsFor(name: string): Promise<string | null>;
  /** Waits, at most a second, until settings changed two seconds ago are in the templates. Never rejects. */
  upToDate(): Promise<void>;
  /** Reads the settings again now, for callers that know they have changed. Never rejects. */
  refresh(): Promise<void>;
  /** `model@provider` of a name that may refer to one or several embedding models; null if no provider is known. */
  resolveEmbedding(name: string): string | ModelChoice | null;
  describeModels(): Promise<readonly NamedModel[]>;
  /** The faults of a change of a template that has this strategy, checked against the current models and providers. */
  tuningFaults(id: string, strategy: string, tuning: TemplateTuning): Promise<readonly TuningFault[]>;
  /** Models that can be named for a template now. */
  modelsFor(id: string): Promise<readonly string[]>;
  /** Models, providers and templates of the last resolution, for the start-up text. */
  found(): { readonly models: readonly ModelInfo[]; readonly providers: readonly ProviderStatus[] } & ResolvedTemplates;
}

export interface CatalogueOptions
  extends Pick<TemplateInput, 'expertPrompts' | 'strategies' | 'capabilities' | 'canSearch'>, Partial<Pick<TemplateInput, 'canRecall'>> {
  readonly configuration: Configuration;
  readonly models: Models;
  /** Reads offers that may change while the system runs; called when templates are needed, at most every two seconds. */
  readonly offers?: () => Promise<Offers>;
  /** Milliseconds after which local models are looked for again; default 30,000. */
  readonly localAgainMs?: number;
  readonly onOffersFailed?: (error: unknown) => void;
  /** Called once with each warning that a later resolution adds to those of `found()`, such as one about the tools of a new server. */
  readonly onWarning?: (warning: string) => void;
}

/** Milliseconds within which changed settings take effect (architecture.md, Settings). */
const offersMs = 2_000;
/** Longest time in milliseconds that a slow store delays a caller. */
const patienceMs = 1_000;

/** Minimum milliseconds between searches for a model server that templates wait for. */
const againAfterMs = 5_000;
/**
 * Milliseconds between searches for local models. They come and go while the system runs, and the roles of the shipped templates follow
 * them.
 */
const localAgainMs = 30_000;

/**
 * Resolves the templates once. Resolves them again in the background after a change of the offers, while a configured model server does not
 * answer, and from time to time if they use local models.
 */
export async function openCatalogue(options: CatalogueOptions): Promise<TemplateCatalogue> {
  const { configuration } = options;
  const openedAt = Math.floor(Date.now() / 1000);
  const look = async (): Promise<ReturnType<TemplateCatalogue['found']>> => {
    const [models, providers] = await Promise.all([options.models.list(), options.models.providers()]);
    const { expertPrompts, strategies, capabilities, canSearch, canRecall = false } = options;
    return {
      models,
      providers,
      ...resolveTemplates({ configuration, models, providers, expertPrompts, strategies, capabilities, canSearch, canRecall, offers }),
    };
  };
  let offers = (await options.offers?.()) ?? noOffers;
  let found = await look();
  if (found.problems.length > 0) throw new Failure('CONFIGURATION_INVALID', found.problems.join('\n'));
  const said = new Set(found.warnings);
  const take = (next: typeof found): void => {
    found = next;
    for (const warning of next.warnings) {
      if (said.has(warning)) continue;
      said.add(warning);
      options.onWarning?.(warning);
    }
  };
  let lookedAt = performance.now();
  let looking: Promise<void> | null = null;
  /** The search in progress, or a new one if it is due. */
  const lookAgain = (): Promise<void> | null => {
    const { because } = found.choice;
    const lacksLocal = found.problems.length > 0;
    const afterMs =
      because === 'nothing' || lacksLocal ? againAfterMs : because === 'local' ? (options.localAgainMs ?? localAgainMs) : Infinity;
    if (looking || performance.now() - lookedAt < afterMs) return looking;
    // `list` and `providers` never reject; a provider that is down is in their result.
    looking = look().then((next) => {
      // A server that is briefly busy removes no template.
      if (because === 'nothing' || lacksLocal || next.choice.because === because) take(next);
      lookedAt = performance.now();
      looking = null;
    });
    return looking;
  };
  let offersAt = performance.now();
  let reading: Promise<void> | null = null;
  /** Keeps the templates unchanged if the store does not answer. */
  const readOffers = (afterMs = offersMs): void => {
    if (!options.offers || reading || performance.now() - offersAt < afterMs) return;
    // Counted from the beginning of the reading: it may miss a change made meanwhile, and that change must not wait for the reading as
    // well.
    offersAt = performance.now();
    reading = options
      .offers()
      .then(async (next) => {
        if (JSON.stringify(next) !== JSON.stringify(offers)) {
          offers = next;
          take(await look());
        }
      })
      .catch((error: unknown) => options.onOffersFailed?.(error))
      .finally(() => {
        reading = null;
      });
  };
  const current = (): typeof found => {
    readOffers();
    void lookAgain();
    return found;
  };
  const aliasOf = (name: string): AliasTarget => (Object.hasOwn(configuration.aliases, name) ? configuration.aliases[name]! : name);
  const isOfProvider = (ref: string): boolean => {
    const at = ref.lastIndexOf('@');
    return at >= 1 && found.providers.some((provider) => provider.name === ref.slice(at + 1));
  };
  const isEmbedding = (ref: string): boolean => found.models.some((model) => model.ref === ref && model.kind === 'embedding');
  const isTemplate = (id: string): boolean =>
    Object.hasOwn(configuration.templates, id) || (shippedTemplates as readonly string[]).includes(id);
  const ground = async (id: string, strategy: string): Promise<TuningGround> => {
    const [models, providers] = await Promise.all([options.models.list(), options.models.providers()]);
    const offered = template(id);
    return {
      strategy,
      localOnly: offered?.local_only ?? configuration.templates[id]?.local_only ?? false,
      categories: offered ? Object.keys(offered.experts) : null,
      models,
      providers,
      configured: configuration.models,
    };
  };
  const template = (id: string): Template | undefined => current().templates.find((one) => one.id === id);
  return {
    templates: () => current().templates,
    resolve: (name) => {
      const target = aliasOf(name);
      if (typeof target !== 'string') {
        const { models, use } = choiceOf(target)!;
        const known = models.filter((ref) => isOfProvider(ref) && !isEmbedding(ref));
        return known.length > 0 ? { kind: 'models', models: known, use } : null;
      }
      const named = template(target);
      if (named) return { kind: 'template', template: named };
      return isOfProvider(target) && !isEmbedding(target) ? { kind: 'model', ref: target } : null;
    },
    resolveEmbedding: (name) => {
      const target = aliasOf(name);
      if (typeof target === 'string') return isOfProvider(target) ? target : null;
      const { models, use } = choiceOf(target)!;
      const known = models.filter(isOfProvider);
      return known.length > 0 ? { models: known, use } : null;
    },
    waitsFor: async (name) => {
      const target = aliasOf(name);
      if (typeof target !== 'string' || !isTemplate(target)) return null;
      if (found.choice.because === 'nothing') await lookAgain();
      const down = found.providers
        .filter(({ reachable }) => !reachable)
        .map(({ name: provider, note }) => `${provider}: ${note || 'does not answer'}`);
      return found.choice.because === 'nothing' && down.length > 0 ? down.join('; ') : null;
    },
    upToDate: async () => {
      readOffers();
      if (reading) await pTimeout(reading, { milliseconds: patienceMs, fallback: () => undefined });
    },
    refresh: async () => {
      await reading;
      readOffers(0);
      await reading;
    },
    describeModels: async () => {
      const models = await options.models.list();
      return [
        ...current().templates.map(({ id, description, strategy }) => ({
          id,
          ownedBy: 'conclave',
          created: openedAt,
          description,
          strategy,
        })),
        ...Object.entries(configuration.aliases).map(([id, target]) => ({
          id,
          ownedBy: 'conclave',
          created: openedAt,
          description: sameAs(target),
        })),
        ...models.map((model) => ({
          id: model.ref,
          ownedBy: model.provider,
          created: openedAt,
          ...(model.kind === 'embedding' ? { kind: model.kind } : {}),
          ...(model.demo ? { description: 'Built-in demo model: deterministic, offline, for a first try.' } : {}),
        })),
      ];
    },
    tuningFaults: async (id, strategy, tuning) => tuningFaults(tuning, await ground(id, strategy)),
    modelsFor: async (id) => modelsToChoose(await ground(id, '')),
    found: () => found,
  };
}

function sameAs(target: AliasTarget): string {
  const choice = choiceOf(target);
  if (!choice) return `The same as ${String(target)}.`;
  const { models, use } = choice;
  return use === 'balance' ? `One of ${models.join(', ')}, in turn.` : `The first of ${models.join(', ')} that answers.`;
}
