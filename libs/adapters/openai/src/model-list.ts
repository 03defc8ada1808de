import { defaultBreaker, type ModelInfo, type ProviderStatus } from '@conclave/ports';
import type { CallTimeouts, ProvidersConfig } from './configuration.js';
import { splitRef } from './configuration.js';
import { LocalContexts, parametersOf, type LocalContext } from './local-context.js';
import { kindByName } from './model-kind.js';
import type { ProviderCalls } from './provider-calls.js';
import { readBeside } from './provider-client.js';
import { faultOf } from './upstream-failure.js';

export interface Listing {
  readonly models: readonly ModelInfo[];
  readonly status: ProviderStatus;
}

type Loose = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value);
const positive = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? Math.floor(value) : null);

/** GET /v1/models of one provider, cached for a short time; concurrent reads share one request. */
export class ProviderModels {
  private readonly contexts: LocalContexts;
  private current: { until: number; readonly listing: Promise<Listing> } | null = null;

  constructor(
    private readonly calls: ProviderCalls,
    private readonly configured: NonNullable<ProvidersConfig['models']>,
    private readonly timeouts: CallTimeouts,
  ) {
    this.contexts = new LocalContexts(calls.config.base_url, timeouts.list_ms);
  }

  /** Never rejects. */
  read(): Promise<Listing> {
    if (!this.current || this.current.until <= performance.now()) this.current = this.begun();
    return this.current.listing;
  }

  private begun(): NonNullable<ProviderModels['current']> {
    const current = { until: Number.POSITIVE_INFINITY, listing: this.fetch() };
    const { list_ttl_ms: whole, list_failed_ttl_ms: failed } = this.timeouts;
    void current.listing.then(({ status }) => {
      current.until = performance.now() + (status.reachable ? whole : failed);
    });
    return current;
  }

  private async fetch(): Promise<Listing> {
    const { calls } = this;
    let entries: readonly Loose[];
    try {
      const answer: unknown = await readBeside(calls.config, 'models', AbortSignal.timeout(this.timeouts.list_ms));
      // Azure lists what it offers, not what is deployed.
      entries = calls.config.azure_api_version === undefined ? entriesOf(answer) : [];
    } catch (error) {
      const fault = faultOf(error, calls.name, false, { prompts: [], key: calls.config.api_key }, Date.now());
      // Models named in the configuration still work on a server without this endpoint.
      const noList = fault.status === 404 || fault.status === 405 || fault.status === 501;
      return noList
        ? {
            models: this.models([], new Map(), null),
            status: this.status(true, 'It does not list its models; only configured ones are known.'),
          }
        : { models: [], status: this.status(false, fault.failure.message) };
    }
    const ids = entries.map((entry) => entry['id']).filter((id): id is string => typeof id === 'string');
    const owned = entries.some((entry) => entry['owned_by'] === 'llamacpp');
    const ollama = calls.config.local && !owned ? await this.contexts.ollama(ids) : new Map<string, LocalContext>();
    const loaded = calls.config.local && owned ? await this.contexts.llamaCpp() : null;
    const studio = calls.config.local && !owned && ollama.size === 0 ? await this.contexts.lmStudio() : new Map<string, Facts>();
    for (const id of ids) {
      const opens = loaded?.opensThinking ?? ollama.get(id)?.opensThinking ?? null;
      if (opens !== null) calls.templateOpensThinking(id, opens);
    }
    const models = this.models(entries, ollama, loaded?.context ?? null, studio);
    const warnings = [...ollama.entries()].flatMap(([id, { warning }]) =>
      warning && !this.configured[`${id}@${calls.name}`]?.context ? [warning] : [],
    );
    const found = `${models.filter((model) => model.kind === 'chat').length} chat models.`;
    return { models, status: this.status(true, [found, ...warnings].join(' ')) };
  }

  private models(
    entries: readonly Loose[],
    local: ReadonlyMap<string, LocalContext>,
    perSlot: number | null,
    studio: ReadonlyMap<string, Facts> = new Map(),
  ): readonly ModelInfo[] {
    const listed = entries.flatMap((entry): ModelInfo[] => {
      const { id } = entry;
      if (typeof id !== 'string' || id === '' || /\s/.test(id)) return [];
      const kind = local.get(id)?.kind ?? kindOf(entry, id);
      const { parameters, sees } = { ...listedFacts(entry), ...studio.get(id), ...local.get(id) };
      const facts = { ...(parameters === undefined ? {} : { parameters }), ...(sees === undefined ? {} : { sees }) };
      return kind === 'other' ? [] : [{ ...this.info(id, kind, perSlot ?? local.get(id)?.context ?? contextOf(entry)), ...facts }];
    });
    const known = new Set(listed.map((model) => model.model));
    const unlisted = Object.keys(this.configured).flatMap((ref) => {
      const parts = splitRef(ref);
      return parts?.provider === this.calls.name && !known.has(parts.model) ? [this.info(parts.model, 'chat', null)] : [];
    });
    return [...listed, ...unlisted];
  }

  private info(model: string, kind: ModelInfo['kind'], context: number | null): ModelInfo {
    const { name, config } = this.calls;
    const ref = `${model}@${name}`;
    const said = this.configured[ref];
    return {
      ref,
      model,
      provider: name,
      context: said?.context ?? context,
      price: said?.price ?? null,
      local: config.local,
      demo: false,
      kind,
    };
  }

  private status(reachable: boolean, note: string): ProviderStatus {
    const { name, config, maxConcurrency } = this.calls;
    const breaker = { ...defaultBreaker, ...config.breaker };
    return {
      name,
      reachable,
      local: config.local,
      paid: config.paid,
      note,
      maxConcurrency,
      breaker,
      baseUrl: withoutCredentials(config.base_url),
    };
  }
}

/** People may write a password or a key into an address. */
function withoutCredentials(address: string): string {
  const url = new URL(address);
  url.username = url.password = url.search = url.hash = '';
  return url.href;
}

/** `{data: []}`, a bare list, or `{models: []}`; anything else has no models. */
export function entriesOf(answer: unknown): readonly Loose[] {
  const list = Array.isArray(answer) ? answer : isObject(answer) ? (answer['data'] ?? answer['models']) : [];
  return Array.isArray(list)
    ? list.filter(isObject).map((entry) => (typeof entry['id'] === 'string' ? entry : { ...entry, id: entry['name'] }))
    : [];
}

/** Context length in the list of vLLM, OpenRouter, Groq, Mistral and LM Studio; llama.cpp lists that of a slot since 2026, before only the trained one. */
const contextOf = (entry: Loose): number | null =>
  positive(entry['max_model_len']) ??
  positive(entry['loaded_context_length']) ??
  positive(entry['context_length']) ??
  positive(entry['context_window']) ??
  positive(entry['max_context_length']) ??
  (isObject(entry['meta']) ? (positive(entry['meta']['n_ctx']) ?? positive(entry['meta']['n_ctx_train'])) : null);

type Facts = Pick<LocalContext, 'parameters' | 'sees'>;

/** Parameters and accepted inputs, which llama.cpp reports in its list. */
function listedFacts(entry: Loose): Facts {
  const parameters = isObject(entry['meta']) ? parametersOf(entry['meta']['n_params']) : null;
  const capabilities = entry['capabilities'];
  return {
    ...(parameters === null ? {} : { parameters }),
    ...(Array.isArray(capabilities) ? { sees: capabilities.includes('multimodal') } : {}),
  };
}

/** Kinds of models in the list of Together that do not chat. */
const otherTypes = new Set<unknown>(['image', 'audio', 'video', 'transcribe', 'moderation', 'rerank']);

/** What a server says about the kind of a model, else what its name says: LM Studio, Together; Mistral; Fireworks. */
function kindOf({ type, capabilities, supports_chat: chats }: Loose, id: string): ReturnType<typeof kindByName> {
  if (type === 'embeddings' || type === 'embedding') return 'embedding';
  const named = kindByName(id);
  const cannotChat = otherTypes.has(type) || chats === false || (isObject(capabilities) && capabilities['completion_chat'] === false);
  return cannotChat && named === 'chat' ? 'other' : named;
}
