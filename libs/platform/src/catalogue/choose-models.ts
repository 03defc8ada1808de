import type { Configuration } from '@conclave/contracts';
import type { ModelInfo, ProviderStatus } from '@conclave/ports';
import { sizeOf, spreadModels, type ModelRoles } from './spread-models.js';

export interface ChosenModels {
  /** Models for roles that a template does not name, in order of preference; empty if no model is available. */
  readonly models: readonly ModelInfo[];
  /** Roles in the shipped templates, if several models were found on this machine or on configured local servers; null if one model plays all. */
  readonly roles?: ModelRoles | null;
  /** Reason for the choice: named in the configuration, on a configured server, found on this machine, paid but configured, or the demo. */
  readonly because: 'configured' | 'server' | 'local' | 'paid' | 'demo' | 'nothing';
}

/**
 * Models for templates that name none. Local and free ones come first; never an embedding model; a paid model only if it or its server was
 * configured, never just because a key is in the environment; the demo model if nothing was configured or found. A configured server that
 * is down is not replaced by the demo.
 */
export function chooseModels(
  configuration: Configuration,
  models: readonly ModelInfo[],
  providers: readonly ProviderStatus[],
): ChosenModels {
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
  const ranks: readonly (readonly [ChosenModels['because'], readonly ModelInfo[]])[] = [
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
    // A list in the file, or a hosted server's list of hundreds, is not spread over roles: its first model is the intended one. The list of
    // a configured local server has no intended order either, and is spread if every size is known.
    const isSpread = because === 'local' || (because === 'server' && some.every((model) => model.local && sizeOf(model) !== null));
    const roles = isSpread ? spreadModels(some) : null;
    const judge = roles && some.find(({ ref }) => ref === roles.judge);
    return { because, models: [judge ?? some[0]!], ...(roles ? { roles } : {}) };
  }
  const demo = chat.filter((model) => model.demo);
  if (Object.keys(configuration.providers).length > 0 || demo.length === 0) return { because: 'nothing', models: [] };
  return { because: 'demo', models: demo.slice(0, 1) };
}
