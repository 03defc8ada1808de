import type * as openAi from '@conclave/adapter-openai';
import type { ProviderConfig, ProvidersConfig } from '@conclave/adapter-openai';
import { demoProvider, discoveredProviders, environmentProvider, Failure } from '@conclave/contracts';
import type { Loaded } from '@conclave/platform';
import { type BreakerSettings, defaultBreaker, type ModelInfo, type Models, providerNameOf, type ProviderStatus } from '@conclave/ports';

type OpenAi = typeof openAi;

export interface OpenedModels {
  readonly models: Models;
  /** True if no model server is configured or found, so that the built-in demo model answers. */
  readonly demoOnly: boolean;
}

export interface ModelSearch {
  readonly onConceded?: NonNullable<ProvidersConfig['onConceded']>;
  /** False in a process that makes no model calls. */
  readonly discover: boolean;
  /** Ports to search for local servers, for tests. */
  readonly ports?: Partial<Readonly<Record<(typeof discoveredProviders)[number], number>>>;
}

/**
 * Opens the configured servers; without any, local servers found at their usual ports; without those, the demo model. A key alone makes its
 * hosted service callable as `model@openai`, but it is never chosen automatically.
 */
export async function openModels(loaded: Loaded, search: ModelSearch): Promise<OpenedModels> {
  const { configuration, environment } = loaded;
  const { openDemoModels } = await import('@conclave/adapter-demo');
  const openai = await import('@conclave/adapter-openai');
  const configured = Object.keys(configuration.providers).map((name): [string, ProviderConfig] => [
    name,
    providerOf(loaded, name, openai.natureOf)!,
  ]);
  const found = configured.length === 0 && search.discover ? await openai.discoverLocalServers(search) : [];
  const lone = configured.length === 0 ? openai.providerFromEnvironment(undefined, environment.OPENAI_API_KEY) : null;
  const demoOnly = configured.length === 0 && found.length === 0;
  const real = openai.openProviders({
    providers: Object.fromEntries([
      ...configured,
      ...found.map(({ name, provider }) => [name, provider] as const),
      ...(lone ? [[environmentProvider, lone.provider] as const] : []),
    ]),
    models: known(configuration.models),
    ...(search.onConceded ? { onConceded: search.onConceded } : {}),
  });
  return { models: joined(real, openDemoModels(), demoOnly, { ...openai.usualPorts, ...search.ports }, openai.openProviders), demoOnly };
}

/** A configured provider with its key; null for an unconfigured name. */
export function providerOf({ configuration, secrets }: Loaded, name: string, natureOf: OpenAi['natureOf']): ProviderConfig | null {
  const provider = configuration.providers[name];
  if (!provider) return null;
  const key = secrets.providerKeys[name];
  const { local } = {
    ...natureOf(provider.base_url, key !== undefined),
    ...(provider.local === undefined ? {} : { local: provider.local }),
  };
  const plain = Object.entries(provider.headers).map(([header, value]) => [header.toLowerCase(), value] as const);
  return {
    base_url: provider.base_url,
    ...(key === undefined ? {} : { api_key: key }),
    headers: { ...Object.fromEntries(plain), ...secrets.providerHeaders[name] },
    ...(provider.azure_api_version === undefined ? {} : { azure_api_version: provider.azure_api_version }),
    ...(provider.max_concurrency === undefined ? {} : { max_concurrency: provider.max_concurrency }),
    timeout_ms: provider.timeout_s * 1000,
    ...boundsOf(provider),
    breaker: breakerOf(provider),
    local,
    paid: provider.paid ?? (key !== undefined && !local),
  };
}

const breakerOf = ({ breaker = {} }: Loaded['configuration']['providers'][string]): BreakerSettings => ({
  failures: breaker.failures ?? defaultBreaker.failures,
  window: breaker.window ?? defaultBreaker.window,
  share: breaker.share ?? defaultBreaker.share,
  openMs: breaker.open_s === undefined ? defaultBreaker.openMs : breaker.open_s * 1000,
});

/** Maximum milliseconds of each call to a server whose address a person has just entered. */
const trialMs = 15_000;

/** Opens the server at this address for a check, without key, headers and retries. The caller closes it. */
export async function openTrial(baseUrl: string): Promise<Models> {
  const openai = await import('@conclave/adapter-openai');
  const { local } = openai.natureOf(baseUrl, false);
  return openai.openProviders({
    providers: { trial: { base_url: baseUrl, local, paid: false, timeout_ms: trialMs } },
    retry: { attempts: 1 },
  });
}

/** Time limits of the configuration, seconds converted to milliseconds. */
const boundsOf = ({
  first_token_s: first,
  idle_s: idle,
}: {
  readonly first_token_s?: number | undefined;
  readonly idle_s?: number | undefined;
}) => ({
  ...(first === undefined ? {} : { first_token_ms: first * 1000 }),
  ...(idle === undefined ? {} : { idle_ms: idle * 1000 }),
});

const known = (models: Loaded['configuration']['models']): NonNullable<ProvidersConfig['models']> =>
  Object.fromEntries(
    Object.entries(models).map(([ref, { context, price, ...bounds }]) => [
      ref,
      { ...(context === undefined ? {} : { context }), ...(price ? { price } : {}), ...boundsOf(bounds) },
    ]),
  );

/**
 * Combines the lists of models; lists the demo only if there is no other. The gateway chooses the models of a run, so a process whose own
 * search found others must still reach the demo and the usual local servers by name.
 */
function joined(
  real: Models,
  demo: Models,
  demoOnly: boolean,
  ports: OpenAi['usualPorts'],
  openProviders: OpenAi['openProviders'],
): Models {
  const late = new Map<string, Models>();
  const lateServer = (name: string): Models | null => {
    const usual = discoveredProviders.find((one) => one === name);
    if (!usual) return null;
    const opened =
      late.get(usual) ??
      openProviders({
        providers: { [usual]: { base_url: `http://127.0.0.1:${ports[usual]}/v1`, local: true, paid: false } },
      });
    late.set(usual, opened);
    return opened;
  };
  const listed = demoOnly ? [real, demo] : [real];
  const providers = async (): Promise<readonly ProviderStatus[]> => (await Promise.all(listed.map((one) => one.providers()))).flat();
  const serverOf = async (model: string): Promise<Models> => {
    const name = providerNameOf(model);
    if (name === demoProvider) return demo;
    if ((await real.providers()).some((provider) => provider.name === name)) return real;
    const server = lateServer(name);
    if (!server) throw new Failure('MODEL_NOT_FOUND', `No provider serves ${model}.`);
    return server;
  };
  return {
    list: async (): Promise<readonly ModelInfo[]> => (await Promise.all(listed.map((one) => one.list()))).flat(),
    providers,
    call: async (request, watch) => (await serverOf(request.model)).call(request, watch),
    pass: async (request, watch) => (await serverOf(request.model)).pass(request, watch),
    embed: async (request, watch) => {
      const server = await serverOf(request.model);
      if (!server.embed) throw new Failure('MODEL_NOT_FOUND', `${request.model} makes no embeddings.`, { param: 'model' });
      return server.embed(request, watch);
    },
    close: async () => {
      await Promise.all([real, demo, ...late.values()].map((one) => one.close()));
    },
  };
}
