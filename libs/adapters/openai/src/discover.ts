import { discoveredProviders } from '@conclave/contracts';
import { LocalContexts } from './local-context.js';
import { entriesOf } from './model-list.js';
import { kindByName } from './model-kind.js';
import type { ProviderConfig } from './configuration.js';
import { smallRequest } from './small-request.js';

/** Header of every response of a Conclave gateway, so that no gateway mistakes a gateway for a model server. */
export const gatewayMark = 'x-conclave';

type Entry = ReturnType<typeof entriesOf>[number];
type DiscoveredName = (typeof discoveredProviders)[number];

/** Default ports of the usual local servers. */
export const usualPorts: Readonly<Record<DiscoveredName, number>> = { ollama: 11434, lmstudio: 1234, llamacpp: 8080, vllm: 8000 };

export interface FoundServer {
  readonly name: DiscoveredName;
  readonly provider: ProviderConfig;
  /** Ids of its chat models. */
  readonly models: readonly string[];
}

export interface DiscoveryOptions {
  readonly ports?: Partial<Readonly<Record<DiscoveredName, number>>>;
  /** Ports this process uses or is about to use. */
  readonly ownPorts?: readonly number[];
  /** Time-out of the whole search in milliseconds; all ports are queried at once. */
  readonly timeoutMs?: number;
}

/**
 * Looks for Ollama, LM Studio, llama.cpp and vLLM on 127.0.0.1. Call it only when nothing is configured.
 * Returns an empty list when nothing is found; never throws. Skips servers without a chat model.
 */
export async function discoverLocalServers({ ports, ownPorts = [], timeoutMs = 400 }: DiscoveryOptions = {}): Promise<
  readonly FoundServer[]
> {
  const asked = discoveredProviders.map((name) => ({ name, port: ports?.[name] ?? usualPorts[name] }));
  const found = await Promise.all(
    asked.filter(({ port }) => !ownPorts.includes(port)).map(({ name, port }) => probe(name, port, timeoutMs)),
  );
  return found.filter((server) => server !== null);
}

async function probe(name: DiscoveredName, port: number, timeoutMs: number): Promise<FoundServer | null> {
  const base_url = `http://127.0.0.1:${port}/v1`;
  try {
    const reply = await smallRequest(new URL(`${base_url}/models`), {
      signal: AbortSignal.timeout(timeoutMs),
      headers: { accept: 'application/json' },
    });
    if (!reply.ok || gatewayMark in reply.headers) return null;
    const entries = entriesOf(JSON.parse(reply.text));
    const models = entries.map((entry) => entry['id']).filter((id): id is string => typeof id === 'string' && kindByName(id) === 'chat');
    if (models.length === 0) return null;
    const slots = await slotsOf(name, entries, base_url, timeoutMs);
    return { name, provider: { base_url, local: true, paid: false, ...(slots > 1 ? { max_concurrency: slots } : {}) }, models };
  } catch {
    // Nothing listens there, or it is not a model server.
    return null;
  }
}

/** Most calls at once to a server that was found: more would not make an ordinary machine faster. */
const mostSlots = 8;
/** Tokens of context that each call should have: slots of llama.cpp share one context by default, and all of it is reported for each. */
const tokensPerCall = 8_192;

/**
 * How many calls a server answers at once: vLLM batches them, llama.cpp says how many slots it has. Others queue all but one, and their
 * waiting calls would use up the time of their tasks.
 */
async function slotsOf(name: DiscoveredName, entries: readonly Entry[], baseUrl: string, timeoutMs: number): Promise<number> {
  if (entries.some((entry) => entry['owned_by'] === 'vllm')) return mostSlots;
  if (name !== 'llamacpp' && !entries.some((entry) => entry['owned_by'] === 'llamacpp')) return 1;
  const { slots, context } = await new LocalContexts(baseUrl, timeoutMs).llamaCpp();
  return Math.min(mostSlots, slots ?? 1, Math.floor((context ?? 0) / tokensPerCall));
}

/** A provider built from OPENAI_BASE_URL and OPENAI_API_KEY. */
export interface EnvironmentProvider {
  readonly provider: ProviderConfig;
  /**
   * Whether its models may be chosen by default, after local ones. True with an explicit address. A key alone points to the hosted
   * service and may be meant for another program, so it never spends money by default.
   */
  readonly mayBeChosen: boolean;
}

const hostedService = 'https://api.openai.com/v1';

/** Null when neither variable is set. Empty values count as unset. */
export function providerFromEnvironment(baseUrl: string | undefined, apiKey: string | undefined): EnvironmentProvider | null {
  if (!baseUrl && !apiKey) return null;
  const base_url = baseUrl || hostedService;
  return { provider: { base_url, ...(apiKey ? { api_key: apiKey } : {}), ...natureOf(base_url, !!apiKey) }, mayBeChosen: !!baseUrl };
}

/** Local: on this machine or a private network. Paid by default: a non-local server with a key. */
export function natureOf(baseUrl: string, hasKey: boolean): { readonly local: boolean; readonly paid: boolean } {
  const local = isPrivateHost(new URL(baseUrl).hostname);
  return { local, paid: hasKey && !local };
}

function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost') || host.endsWith('.local') || host.endsWith('.internal')) return true;
  if (host.includes(':')) return host === '::1' || /^f[cd]/.test(host) || host.startsWith('fe80');
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(host)) return !host.includes('.');
  return /^(127|10)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\./.test(host);
}
