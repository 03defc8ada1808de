import { Inject, Injectable } from '@nestjs/common';
import { type Caller, type EmbeddingList, type EmbeddingRequest, estimateTokens, Failure, noUsage } from '@conclave/contracts';
import { type Embedder, type EmbeddingReply, MODELS, type ModelReply, type Models, STATE, type StateStore } from '@conclave/ports';
import type { Response } from 'express';
import { DirectCalls } from '../chat/direct-calls.js';
import type { MayAsk } from '../http/caller.js';
import { asFailure, sendFailure } from '../http/failure-response.js';
import { ModelDirectory } from '../models/model-directory.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions, ownEmbedding } from '../options.js';
import { Connections } from '../stream/connections.js';

/** A request whose texts were counted. */
export interface AskedVectors extends Pick<EmbeddingRequest, 'model' | 'encoding_format' | 'dimensions'> {
  readonly texts: readonly string[];
}

/** Requests for vectors: no run, one call that is recorded like a direct one. */
@Injectable()
export class EmbeddingCalls {
  private running = 0;

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(MODELS) private readonly models: Models,
    @Inject(STATE) private readonly state: Pick<StateStore, 'now'>,
    @Inject(Connections) private readonly connections: Connections,
    @Inject(ModelDirectory) private readonly directory: ModelDirectory,
    @Inject(DirectCalls) private readonly direct: DirectCalls,
  ) {}

  /** Throws MODEL_NOT_FOUND, REQUEST_INVALID, OVERLOADED, SHUTTING_DOWN, and answers RATE_LIMITED and BUDGET_SPENT before anything is asked. */
  async answer(response: Response, asked: AskedVectors, caller: Caller, mayAsk: MayAsk): Promise<void> {
    const embedder = await this.directory.embedder(asked.model, mayAsk);
    if (this.connections.shuttingDown) throw new Failure('SHUTTING_DOWN');
    if (this.running >= this.limits.directCalls) throw new Failure('OVERLOADED', `${this.running} calls for embeddings are open.`);
    const abort = new AbortController();
    let left = false;
    this.connections.watch(
      response,
      () => {
        left = true;
        abort.abort();
      },
      () => abort.abort(),
    );
    this.running += 1;
    try {
      const ref = typeof embedder === 'string' ? embedder : ownEmbedding;
      const reply = await this.direct.limited(response, ref, { input: [...asked.texts] }, (callId) =>
        typeof embedder === 'string'
          ? this.asked(embedder, asked, caller, callId, abort.signal)
          : this.built(embedder, asked, abort.signal),
      );
      if (left) return;
      response.setHeader('x-conclave-cost', String(reply.usage.cost));
      response.status(200).json(listOf(asked, reply));
    } catch (error) {
      if (left) return;
      const stopped = abort.signal.aborted && this.connections.shuttingDown;
      sendFailure(response, stopped ? new Failure('SHUTTING_DOWN', 'Send the request again.') : asFailure(error), this.limits.retryAfterS);
    } finally {
      this.running -= 1;
    }
  }

  private async built(embedder: Embedder, { texts, dimensions }: AskedVectors, signal: AbortSignal): Promise<EmbeddingReply> {
    const began = performance.now();
    const vectors = await embedder.embed(texts, { signal });
    if (dimensions) assertLength(vectors, dimensions);
    const prompt = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
    return { vectors, usage: { ...noUsage, prompt, estimated: true }, reportedModel: null, durationMs: performance.now() - began };
  }

  private async asked(
    ref: string,
    { texts, dimensions }: AskedVectors,
    caller: Caller,
    callId: string,
    signal: AbortSignal,
  ): Promise<EmbeddingReply> {
    const startedAt = Date.now();
    const call = { model: ref, body: { input: texts, ...(dimensions ? { dimensions } : {}) }, purpose: 'embedding' };
    const embed = this.models.embed?.bind(this.models);
    if (!embed) throw new Failure('MODEL_NOT_FOUND', `${ref} makes no embeddings.`, { param: 'model' });
    try {
      const deadline = (await this.state.now()) + this.limits.directTimeoutMs;
      const reply = await this.options.providers
        .call(ref, callId)
        .make({ signal, deadline }, () => embed({ model: ref, input: texts, ...(dimensions ? { dimensions } : {}) }, { signal }));
      this.connections.track(this.direct.record(callId, call, startedAt, caller, recorded(reply), null));
      if (dimensions) assertLength(reply.vectors, dimensions);
      return reply;
    } catch (error) {
      const failure = asFailure(error);
      if (failure.code !== 'REQUEST_INVALID') this.connections.track(this.direct.record(callId, call, startedAt, caller, null, failure));
      throw failure;
    }
  }
}

/** The call as the audit keeps it: its vectors are no text. */
const recorded = ({ usage, reportedModel, durationMs }: EmbeddingReply): ModelReply => ({
  ...{ content: '', reasoning: '', finishReason: 'stop', firstTokenMs: null },
  ...{ usage, reportedModel, durationMs },
});

/** Throws REQUEST_INVALID for a model that does not shorten its vectors. */
function assertLength(vectors: readonly Float32Array[], dimensions: number): void {
  const other = vectors.find(({ length }) => length !== dimensions);
  if (!other) return;
  throw new Failure(
    'REQUEST_INVALID',
    `This model gives ${other.length} numbers per text and does not shorten them: leave out \`dimensions\` or set it to ${other.length}.`,
    { param: 'dimensions' },
  );
}

const listOf = ({ model, encoding_format: format }: AskedVectors, { vectors, usage }: EmbeddingReply): EmbeddingList => ({
  object: 'list',
  data: vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: format === 'base64' ? base64Of(vector) : Array.from(vector),
  })),
  model,
  usage: { prompt_tokens: usage.prompt, total_tokens: usage.prompt },
});

/** 32-bit floats, little-endian on every machine. */
function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString('base64');
}
