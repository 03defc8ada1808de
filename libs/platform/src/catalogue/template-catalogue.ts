import type { Configuration, Template } from '@conclave/contracts';
import type { ModelInfo, Models, ProviderStatus } from '@conclave/ports';
import { resolveTemplates, type ResolvedTemplates, type TemplateInput } from './resolve-templates.js';

export type ResolvedName = { readonly kind: 'template'; readonly template: Template } | { readonly kind: 'model'; readonly ref: string };
export interface NamedModel {
  readonly id: string;
  /** `conclave` for templates and aliases, else the provider. */
  readonly ownedBy: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly description?: string;
}

/** Templates, aliases and models by the names clients use. */
export interface TemplateCatalogue {
  templates(): readonly Template[];
  /** Null for a name that means nothing. An alias of a template gives the template. */
  resolve(name: string): ResolvedName | null;
  describeModels(): Promise<readonly NamedModel[]>;
  /** What was found when it was resolved last, for the start-up text. */
  found(): { readonly models: readonly ModelInfo[]; readonly providers: readonly ProviderStatus[] } & ResolvedTemplates;
}

export interface CatalogueOptions extends Pick<TemplateInput, 'expertPrompts' | 'canSearch'> {
  readonly configuration: Configuration;
  readonly models: Models;
}

/** Templates that wait for a model server that was down are looked for again at most this often. */
const againAfterMs = 5_000;

/** Resolves the templates once. While a configured model server does not answer, they are resolved again in the background. */
export async function openCatalogue(options: CatalogueOptions): Promise<TemplateCatalogue> {
  const { configuration } = options;
  const openedAt = Math.floor(Date.now() / 1000);
  const look = async (): Promise<ReturnType<TemplateCatalogue['found']>> => {
    const [models, providers] = await Promise.all([options.models.list(), options.models.providers()]);
    const { expertPrompts, canSearch } = options;
    return { models, providers, ...resolveTemplates({ configuration, models, providers, expertPrompts, canSearch }) };
  };
  let found = await look();
  let lookedAt = performance.now();
  let looking = false;
  const lookAgain = (): void => {
    if (looking || found.choice.because !== 'nothing' || performance.now() - lookedAt < againAfterMs) return;
    looking = true;
    // `list` and `providers` never reject; a provider that is down is in their result.
    void look().then((next) => {
      found = next;
      lookedAt = performance.now();
      looking = false;
    });
  };
  const current = (): typeof found => {
    lookAgain();
    return found;
  };
  const template = (id: string): Template | undefined => current().templates.find((one) => one.id === id);
  return {
    templates: () => current().templates,
    resolve: (name) => {
      const id = Object.hasOwn(configuration.aliases, name) ? configuration.aliases[name]! : name;
      const named = template(id);
      if (named) return { kind: 'template', template: named };
      const at = id.lastIndexOf('@');
      if (at < 1) return null;
      const isEmbedding = found.models.some(({ ref, kind }) => ref === id && kind === 'embedding');
      const isProvider = found.providers.some((provider) => provider.name === id.slice(at + 1));
      return isProvider && !isEmbedding ? { kind: 'model', ref: id } : null;
    },
    describeModels: async () => {
      const models = await options.models.list();
      return [
        ...current().templates.map(({ id, description }) => ({ id, ownedBy: 'conclave', created: openedAt, description })),
        ...Object.entries(configuration.aliases).map(([id, target]) => ({ id, ownedBy: 'conclave', created: openedAt, description: `The same as ${target}.` })),
        ...models.filter(({ kind }) => kind === 'chat').map((model) => ({
          id: model.ref,
          ownedBy: model.provider,
          created: openedAt,
          ...(model.demo ? { description: 'Built-in demo model: deterministic, offline, for trying things out.' } : {}),
        })),
      ]; // prettier-ignore
    },
    found: () => found,
  };
}
