import { opensThinking } from './opened-thinking.js';
import { smallRequest, type SmallRequest } from './small-request.js';

/** Context length that a local server actually uses, and a sentence if it is shorter than the model's maximum. */
export interface LocalContext {
  readonly context: number | null;
  readonly kind: 'embedding' | null;
  readonly warning: string | null;
  /** Parameters in billions; `sees`: whether it accepts images. Both as reported by the server. */
  readonly parameters?: number;
  readonly sees?: boolean;
  /** Whether the prompt template ends with an open `<think>`; null if that is not known. */
  readonly opensThinking: boolean | null;
}

/** Ollama's context when neither the model nor its environment sets one; it silently truncates longer prompts. */
const ollamaDefault = 4096;
const remembered = 300_000;

type Loose = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value);
const positive = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null);

/** Queries the servers' own endpoints beside /v1. Every request is bounded; a missing answer counts as unknown. */
export class LocalContexts {
  private readonly root: string;
  private readonly shown = new Map<string, { readonly until: number; readonly value: Loose }>();
  private isOllama: boolean | null = null;

  constructor(
    baseUrl: string,
    private readonly timeoutMs: number,
  ) {
    this.root = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  }

  /** Contexts by model if the server is Ollama, else an empty map. `ids`: the models of its list; queries at most 50. */
  async ollama(ids: readonly string[]): Promise<ReadonlyMap<string, LocalContext>> {
    this.isOllama ??= typeof (await this.json('/api/version'))?.['version'] === 'string';
    if (!this.isOllama) return new Map();
    const running = await this.json('/api/ps');
    const loaded = new Map<string, number>();
    for (const model of Array.isArray(running?.['models']) ? running['models'].filter(isObject) : []) {
      const length = positive(model['context_length']);
      if (typeof model['name'] === 'string' && length) loaded.set(model['name'], length);
    }
    const entries = await Promise.all(
      ids
        .slice(0, 50)
        .map(async (id) => [id, ollamaContext(id, await this.show(id), loaded.get(id) ?? loaded.get(`${id}:latest`) ?? null)] as const),
    );
    return new Map(entries);
  }

  /** Tokens per slot of a llama.cpp server, possibly fewer than the model was trained for, its template, and the number of its slots. */
  async llamaCpp(): Promise<Pick<LocalContext, 'context' | 'opensThinking'> & { readonly slots: number | null }> {
    const props = await this.json('/props');
    const settings = props?.['default_generation_settings'];
    return {
      context: isObject(settings) ? positive(settings['n_ctx']) : null,
      opensThinking: opensThinking(props?.['chat_template']),
      slots: positive(props?.['total_slots']),
    };
  }

  /** Model facts from LM Studio's own list beside /v1; empty for other servers. */
  async lmStudio(): Promise<ReadonlyMap<string, Pick<LocalContext, 'parameters' | 'sees'>>> {
    const data = (await this.json('/api/v0/models'))?.['data'];
    return new Map(
      (Array.isArray(data) ? data.filter(isObject) : []).flatMap((entry) =>
        typeof entry['id'] === 'string' && typeof entry['type'] === 'string'
          ? [[entry['id'], { sees: entry['type'] === 'vlm' }] as const]
          : [],
      ),
    );
  }

  private async show(model: string): Promise<Loose | null> {
    const known = this.shown.get(model);
    if (known && known.until > Date.now()) return known.value;
    const value = await this.json('/api/show', {
      method: 'POST',
      body: JSON.stringify({ model }),
      headers: { 'content-type': 'application/json' },
    });
    if (value) this.shown.set(model, { until: Date.now() + remembered, value });
    return value;
  }

  private async json(path: string, request: Omit<SmallRequest, 'signal'> = {}): Promise<Loose | null> {
    try {
      const reply = await smallRequest(new URL(this.root + path), { ...request, signal: AbortSignal.timeout(this.timeoutMs) });
      const value: unknown = reply.ok ? JSON.parse(reply.text) : null;
      return isObject(value) ? value : null;
    } catch {
      // Another kind of server, or busy: its context stays unknown.
      return null;
    }
  }
}

/**
 * `num_ctx` of the model file, else the context of the loaded model, else Ollama's default; at most the trained length.
 */
export function ollamaContext(model: string, show: Loose | null, loaded: number | null): LocalContext {
  const info = isObject(show?.['model_info']) ? show['model_info'] : {};
  const trained = positive(Object.entries(info).find(([key]) => key.endsWith('.context_length'))?.[1]);
  const written = /^[ \t]*num_ctx[ \t]+(\d+)/m.exec(typeof show?.['parameters'] === 'string' ? show['parameters'] : '')?.[1];
  const real = loaded ?? (written ? Number(written) : ollamaDefault);
  const context = trained ? Math.min(trained, real) : real;
  const capabilities = Array.isArray(show?.['capabilities']) ? show['capabilities'] : [];
  const embeds = capabilities.includes('embedding') && !capabilities.includes('completion');
  const warning =
    trained && trained > context && !embeds
      ? `Ollama cuts prompts of ${model} at ${context} tokens without a warning, although the model takes ${trained}. Start it with OLLAMA_CONTEXT_LENGTH=${Math.min(trained, 32_768)}.`
      : null;
  const details = isObject(show?.['details']) ? show['details'] : {};
  const parameters = parametersOf(details['parameter_size']) ?? parametersOf(info['general.parameter_count']);
  return {
    context,
    kind: embeds ? 'embedding' : null,
    warning,
    opensThinking: opensThinking(show?.['template']),
    ...(parameters === null ? {} : { parameters }),
    ...(capabilities.length > 0 ? { sees: capabilities.includes('vision') } : {}),
  };
}

/** Parses `8.2B`, `135M` or a count such as 8190735360 into billions of parameters; null for anything else. */
export function parametersOf(said: unknown): number | null {
  if (typeof said === 'number') return said > 0 ? said / 1e9 : null;
  const [, number, unit] = (typeof said === 'string' && /^([\d.]+)\s*([KMBT])$/i.exec(said.trim())) || [];
  const scale = { k: 1e-6, m: 1e-3, b: 1, t: 1e3 }[(unit ?? '').toLowerCase()];
  return scale === undefined || !(Number(number) > 0) ? null : Number(number) * scale;
}
