import type { Configuration } from '@conclave/contracts';
import type { ModelInfo, ProviderStatus } from '@conclave/ports';
import { spreadModels, type ModelRoles } from './spread-models.js';

export interface ModelChoice {
  /** Models for every role of a template that names none, first one first; empty when nothing can answer. */
  readonly models: readonly ModelInfo[];
  /** Why these: named in the configuration, on a configured server, found on this machine, paid but configured, or the demo. */
  /** Who plays which part in the shipped templates, where several models were found on this machine; null where one model plays all. */
  readonly roles?: ModelRoles | null;
  readonly because: 'configured' | 'server' | 'local' | 'paid' | 'demo' | 'nothing';
}

/**
 * Models of templates that name none. Local and free ones come first; an embedding model is never taken; a paid model is
 * taken only where its server or itself was configured, never because a key lies in the environment; the demo model is
 * taken when nothing was configured and nothing found. A configured server that is down is not replaced by the demo.
 */
export function chooseModels(
  configuration: Configuration,
  models: readonly ModelInfo[],
  providers: readonly ProviderStatus[],
): ModelChoice {
  const chat = models.filter(({ kind }) => kind === 'chat');
  const paid = new Set(providers.filter((provider) => provider.paid).map(({ name }) => name));
  const named = Object.keys(configuration.models);
  const isConfigured = ({ provider }: ModelInfo): boolean => provider in configuration.providers;
  const isFree = ({ provider, demo }: ModelInfo): boolean => !demo && !paid.has(provider);

  const listed = chat.filter(({ ref }) => named.includes(ref)).sort((a, b) => named.indexOf(a.ref) - named.indexOf(b.ref));
  const localFirst = (some: readonly ModelInfo[]): readonly ModelInfo[] => [
    ...some.filter(({ local }) => local),
    ...some.filter(({ local }) => !local),
  ];
  const ranks: readonly (readonly [ModelChoice['because'], readonly ModelInfo[]])[] = [
    ['configured', localFirst(listed.filter(isFree))],
    ['server', localFirst(chat.filter((model) => isConfigured(model) && isFree(model)))],
    ['local', chat.filter((model) => isFree(model) && model.local)],
    [
      'paid',
      [
        ...listed.filter((model) => !isFree(model) && !model.demo),
        ...chat.filter((model) => isConfigured(model) && !isFree(model) && !model.demo),
      ],
    ],
  ];
  const first = ranks.find(([, some]) => some.length > 0);
  if (first) {
    const [because, some] = first;
    // A list that somebody wrote, or a hosted one of hundreds, is not spread: its first model was meant.
    const roles = because === 'local' ? spreadModels(some) : null;
    const judge = roles && some.find(({ ref }) => ref === roles.judge);
    return { because, models: [judge ?? some[0]!], ...(roles ? { roles } : {}) };
  }
  const demo = chat.filter((model) => model.demo);
  if (Object.keys(configuration.providers).length > 0 || demo.length === 0) return { because: 'nothing', models: [] };
  return { because: 'demo', models: demo.slice(0, 1) };
}
