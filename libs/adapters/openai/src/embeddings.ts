import { setMaxListeners } from 'node:events';
import { Failure } from '@conclave/contracts';
import { toUnitLength, wellFormed, type Embedder } from '@conclave/ports';
import type { OpenAI } from 'openai';
import { CallSlots } from './call-slots.js';
import { defaultConcurrency, defaultRetry, type ProviderConfig, type RetrySettings } from './configuration.js';
import { backOffMs, pause } from './retry.js';
import { faultOf, type FailedAttempt } from './upstream-failure.js';

export interface EmbeddingsConfig {
  /** Name of the provider, for messages and the id of the embedder. */
  readonly name: string;
  readonly provider: ProviderConfig;
  readonly model: string;
  /** Requested vector length, for models that can shorten their vectors; absent = the model's own. */
  readonly dimensions?: number;
  /** Texts per request; default 64. */
  readonly batch?: number;
  readonly retry?: Partial<RetrySettings>;
}

/** Characters per request, unless one text alone is longer: servers limit the tokens of a request, e.g. to 300,000. */
const mostCharacters = 200_000;
const defaultBatch = 64;
const defaultTimeoutMs = 60_000;
const healthMs = 2_000;
/** Servers refuse an empty text. */
const emptyText = '(empty)';

/** Outcome of one request. */
type Attempted = { readonly vectors: readonly Float32Array[] } | Pick<FailedAttempt, 'failure' | 'again' | 'afterMs'>;

/** Embeddings of an OpenAI-compatible server, POST /v1/embeddings. Opens no connection by itself. */
export function openEmbeddings(config: EmbeddingsConfig): Embedder {
  return new EmbeddingsEndpoint(config);
}

class EmbeddingsEndpoint implements Embedder {
  readonly id: string;
  private readonly slots: CallSlots;
  private readonly retry: RetrySettings;
  private readonly closing = new AbortController();
  private knownDimension: number | null;
  private client: Promise<OpenAI> | null = null;

  constructor(private readonly config: EmbeddingsConfig) {
    const { name, provider, model, dimensions, retry } = config;
    // Every running request adds a listener and removes it at its end.
    setMaxListeners(Infinity, this.closing.signal);
    this.id = `${model}@${name}${dimensions === undefined ? '' : `.${dimensions}`}`;
    this.knownDimension = dimensions ?? null;
    this.slots = new CallSlots(provider.max_concurrency ?? defaultConcurrency(provider.local));
    this.retry = { ...defaultRetry, ...retry };
  }

  get dimension(): number | null {
    return this.knownDimension;
  }

  async embed(texts: readonly string[], { signal }: { readonly signal: AbortSignal }): Promise<readonly Float32Array[]> {
    if (signal.aborted || this.closing.signal.aborted) throw new Failure('CALL_CANCELLED');
    const asked = texts.map((text) => (text.trim() === '' ? emptyText : wellFormed(text)));
    const vectors: Float32Array[] = [];
    await this.whileWanted(signal, async (wanted) => {
      for (const batch of batchesOf(asked, this.config.batch ?? defaultBatch)) vectors.push(...(await this.batch(batch, wanted)));
    });
    return vectors;
  }

  async health(): Promise<string | null> {
    if (this.closing.signal.aborted) return 'The embedder is closed.';
    try {
      await (await this.opened()).get('/models', { signal: AbortSignal.timeout(healthMs) });
      return null;
    } catch (error) {
      const fault = this.faultOf(error, []);
      // A server without a model list can still embed.
      return fault.status === 404 || fault.status === 405 || fault.status === 501 ? null : fault.failure.message;
    }
  }

  /** Imported at the first request, for a faster start. */
  private opened(): Promise<OpenAI> {
    return (this.client ??= import('./client.js').then(({ clientFor }) => clientFor(this.config.provider)));
  }

  /** Aborts running calls. */
  async close(): Promise<void> {
    this.closing.abort();
  }

  private async batch(texts: readonly string[], wanted: AbortSignal): Promise<readonly Float32Array[]> {
    const giveBack = await this.slots.take(wanted);
    try {
      for (let tries = 1; ; tries += 1) {
        const ended = await this.attempt(texts, wanted);
        if ('vectors' in ended) return this.checked(ended.vectors);
        if (wanted.aborted) throw new Failure('CALL_CANCELLED');
        const waitMs = backOffMs(tries + 1, ended.afterMs, this.retry);
        if (!ended.again || tries >= this.retry.attempts || waitMs > this.retry.longest_wait_ms) throw ended.failure;
        await pause(waitMs, wanted);
      }
    } finally {
      giveBack();
    }
  }

  private async attempt(texts: readonly string[], wanted: AbortSignal): Promise<Attempted> {
    const { model, dimensions, provider, name } = this.config;
    const limit = new AbortController();
    const timeoutMs = provider.timeout_ms ?? defaultTimeoutMs;
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    const stop = (): void => limit.abort();
    wanted.addEventListener('abort', stop, { once: true });
    try {
      // By default the client library requests base64, which not every server knows.
      const body = { model, input: texts, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) };
      const answer: unknown = await (await this.opened()).post('/embeddings', { body, signal: limit.signal });
      return { vectors: vectorsOf(answer, texts.length, name) };
    } catch (error) {
      // Our own timeout is not retried: a hanging server would only get more work.
      if (limit.signal.aborted && !wanted.aborted)
        return {
          failure: new Failure('CALL_TIMEOUT', `Provider ${name} did not return embeddings within ${timeoutMs} ms.`),
          again: false,
          afterMs: null,
        };
      return this.faultOf(error, texts);
    } finally {
      clearTimeout(timer);
      wanted.removeEventListener('abort', stop);
    }
  }

  private checked(vectors: readonly Float32Array[]): readonly Float32Array[] {
    const { name, model } = this.config;
    for (const vector of vectors) {
      this.knownDimension ??= vector.length;
      if (vector.length !== this.knownDimension)
        throw new Failure(
          'VECTORS_INCOMPATIBLE',
          `The model ${model} of provider ${name} returned ${vector.length} numbers instead of ${this.knownDimension}. Has the model behind this name been replaced?`,
        );
      if (!toUnitLength(vector)) throw new Failure('PROVIDER_REPLY_INVALID', `Provider ${name} returned a zero vector.`);
    }
    return vectors;
  }

  private faultOf(error: unknown, prompts: readonly string[]): FailedAttempt {
    return faultOf(error, this.config.name, false, { prompts, key: this.config.provider.api_key }, Date.now());
  }

  /** Runs `act` with a signal that also aborts on close. Removes its listeners, because the close signal outlives every call. */
  private async whileWanted<T>(caller: AbortSignal, act: (wanted: AbortSignal) => Promise<T>): Promise<T> {
    const either = new AbortController();
    const abort = (): void => either.abort();
    const sources = [caller, this.closing.signal];
    for (const source of sources) source.addEventListener('abort', abort);
    try {
      return await act(either.signal);
    } finally {
      for (const source of sources) source.removeEventListener('abort', abort);
    }
  }
}

function* batchesOf(texts: readonly string[], size: number): Generator<readonly string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    if (batch.length > 0 && (batch.length >= size || characters + text.length > mostCharacters)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  if (batch.length > 0) yield batch;
}

type Loose = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null;

/**
 * The vectors of a reply `{data: [{index, embedding}]}` in the order of the texts. Servers may omit `index`, and some send base64
 * regardless of the request. Throws Failure PROVIDER_REPLY_INVALID unless there is one vector of numbers for each text.
 */
function vectorsOf(answer: unknown, texts: number, provider: string): readonly Float32Array[] {
  const invalid = (detail: string): Failure => new Failure('PROVIDER_REPLY_INVALID', `Provider ${provider} ${detail}`);
  const data = isObject(answer) ? answer['data'] : undefined;
  if (!Array.isArray(data) || data.length !== texts) throw invalid(`did not send one vector for each of ${texts} texts.`);
  const vectors = new Array<Float32Array | undefined>(texts).fill(undefined);
  for (const [at, entry] of (data as readonly unknown[]).entries()) {
    const { index = at, embedding } = isObject(entry) ? entry : {};
    const vector = vectorOf(embedding);
    if (!vector) throw invalid('sent something that is not a vector.');
    if (typeof index !== 'number' || !(index in vectors) || vectors[index]) throw invalid('sent vectors that do not belong to a text.');
    vectors[index] = vector;
  }
  return vectors as readonly Float32Array[];
}

function vectorOf(embedding: unknown): Float32Array | null {
  if (typeof embedding === 'string') {
    const bytes = Buffer.from(embedding, 'base64');
    if (bytes.length === 0 || bytes.length % 4 !== 0) return null;
    return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
  }
  if (!Array.isArray(embedding) || embedding.length === 0 || !embedding.every((value) => typeof value === 'number')) return null;
  return Float32Array.from(embedding as readonly number[]);
}
