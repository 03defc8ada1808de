import { Failure } from '@conclave/contracts';
import { toUnitLength, wellFormed, type Embedder, type EmbedOptions } from '@conclave/ports';
import type { ModelPrice, ProviderConfig, RetrySettings } from './configuration.js';
import { type EmbeddingUsage, usageOf } from './embedding-usage.js';
import { saysTooMany } from './limits-reached.js';
import { ProviderRequests } from './provider-requests.js';
import type { FailedAttempt } from './upstream-failure.js';

export interface EmbeddingsConfig {
  /** Name of the provider, for messages and the id of the embedder. */
  readonly name: string;
  readonly provider: ProviderConfig;
  readonly model: string;
  /** Requested vector length, for models that can shorten their vectors; absent = the model's own. */
  readonly dimensions?: number;
  /** Texts per request; default 64. */
  readonly batch?: number;
  /** Of the model; absent = its requests cost 0. */
  readonly price?: ModelPrice;
  readonly retry?: Partial<RetrySettings>;
}

/** Characters per request, unless one text alone is longer: servers limit the tokens of a request, e.g. to 300,000. */
const mostCharacters = 200_000;
const defaultBatch = 64;
/** A text that a server refuses as too long is cut down to this many characters, but no further. */
const shortestCut = 200;
/** Servers refuse an empty text. */
const emptyText = '(empty)';

/** Embeddings of an OpenAI-compatible server, POST /v1/embeddings. Opens no connection by itself. */
export function openEmbeddings(config: EmbeddingsConfig): Embedder {
  return new EmbeddingsEndpoint(config);
}

class EmbeddingsEndpoint implements Embedder {
  readonly id: string;
  private readonly requests: ProviderRequests;
  private knownDimension: number | null;
  /** Texts per request; fewer once the server has refused more. */
  private most: number;

  constructor(private readonly config: EmbeddingsConfig) {
    const { name, model, dimensions, batch = defaultBatch } = config;
    this.most = batch;
    this.id = `${model}@${name}${dimensions === undefined ? '' : `.${dimensions}`}`;
    this.knownDimension = dimensions ?? null;
    this.requests = new ProviderRequests(config);
  }

  get dimension(): number | null {
    return this.knownDimension;
  }

  async embed(texts: readonly string[], { signal, onUsage }: EmbedOptions): Promise<readonly Float32Array[]> {
    const asked = texts.map((text) => (text.trim() === '' ? emptyText : wellFormed(text)));
    const vectors: Float32Array[] = [];
    await this.requests.whileWanted(signal, async (wanted) => {
      for (const batch of batchesOf(asked, () => this.most)) vectors.push(...(await this.batch(batch, wanted, onUsage)));
    });
    return vectors;
  }

  async health(): Promise<string | null> {
    return this.requests.isClosed ? 'The embedder is closed.' : this.requests.health();
  }

  /** Aborts running calls. */
  async close(): Promise<void> {
    this.requests.close();
  }

  /** Asks again for half as many texts, or half of one text, if the server refuses them because they are too many or too long. */
  private async batch(texts: readonly string[], wanted: AbortSignal, onUsage: EmbedOptions['onUsage']): Promise<readonly Float32Array[]> {
    const ended = await this.asked(texts, wanted, onUsage);
    if (!('failure' in ended)) return this.checked(ended);
    const { failure, status, said } = ended;
    const tooMany = saysTooMany(status ?? 0, said);
    if (!tooMany && failure.code !== 'CONTEXT_OVERFLOW') throw failure;
    if (texts.length > 1) {
      const half = Math.ceil(texts.length / 2);
      if (tooMany) this.most = Math.min(this.most, half);
      return [...(await this.batch(texts.slice(0, half), wanted, onUsage)), ...(await this.batch(texts.slice(half), wanted, onUsage))];
    }
    const [text = ''] = texts;
    if (text.length <= shortestCut) throw failure;
    return this.batch([wellFormed(text.slice(0, Math.max(shortestCut, text.length >> 1)))], wanted, onUsage);
  }

  /** The vectors, or a refusal. Throws every failure that is none. */
  private async asked(
    texts: readonly string[],
    wanted: AbortSignal,
    onUsage: EmbedOptions['onUsage'],
  ): Promise<readonly Float32Array[] | FailedAttempt> {
    const { model, dimensions, name, price } = this.config;
    // Not every server supports base64.
    const body = { model, input: texts, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) };
    const read = (answer: unknown) => ({ vectors: vectorsOf(answer, texts.length, name), said: answer as EmbeddingUsage });
    const refusal: { fault: FailedAttempt | null } = { fault: null };
    const refused = (fault: FailedAttempt) => (refusal.fault = fault).failure;
    try {
      const request = { path: 'embeddings', body, brings: 'embeddings', prompts: texts, read, refused } as const;
      const { vectors, said } = await this.requests.post(request, wanted);
      onUsage?.(usageOf(said, texts, price));
      return vectors;
    } catch (error) {
      if (refusal.fault) return refusal.fault;
      throw error;
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
}

function* batchesOf(texts: readonly string[], most: () => number): Generator<readonly string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    if (batch.length > 0 && (batch.length >= most() || characters + text.length > mostCharacters)) {
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
export function vectorsOf(answer: unknown, texts: number, provider: string): readonly Float32Array[] {
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
