import type { Configuration, Template } from '@conclave/contracts';
import { providerNameOf, type ProviderStatus } from '@conclave/ports';

/** Whether calls of this model stay on this machine or in its network. */
export const staysLocal = (ref: string, providers: readonly Pick<ProviderStatus, 'name' | 'local'>[]): boolean =>
  providers.some(({ name, local }) => local && name === providerNameOf(ref));

export interface Surroundings {
  readonly configuration: Pick<Configuration, 'embeddings' | 'rerank'>;
  readonly providers: readonly ProviderStatus[];
  /** Names of the templates whose runs a template starts, or to which it hands requests over. */
  readonly leadsTo: (template: Template) => readonly string[];
}

/**
 * Sentences on everything that would send texts of a `local_only` template to an outside model server: its models, the embedder and the
 * rerankers, which see the texts of every template, and templates that get its requests or parts of them.
 */
export function leaksOf(template: Template, templates: readonly Template[], surroundings: Surroundings): readonly string[] {
  const { configuration, providers } = surroundings;
  const isStranger = (ref: string): boolean => !staysLocal(ref, providers);
  const { planner, judge, experts, tool_model: toolModel } = template;
  const models = [
    ...[planner, judge].flatMap(({ models: refs }) => refs),
    ...Object.values(experts).flatMap(({ t1, t2 = [], always = [] }) => [...t1, ...t2, ...always]),
    ...(toolModel ? [toolModel] : []),
  ];
  const { research, collections } = configuration.rerank;
  const shared = [
    ['embeddings.model', configuration.embeddings.model],
    ['rerank.research.model', research?.model],
    ['rerank.collections.model', collections?.model],
  ] as const;
  const others = surroundings.leadsTo(template).filter((id) => templates.some((other) => other.id === id && other.local_only !== true));
  return [
    ...[...new Set(models)].filter(isStranger).map((ref) => `its model ${ref} is outside this network`),
    ...shared.flatMap(([key, ref]) =>
      ref !== undefined && isStranger(ref) ? [`\`${key}\` is ${ref}, which is outside this network`] : [],
    ),
    ...others.map((id) => `it leads to the template ${id}, which is not \`local_only\``),
  ];
}
