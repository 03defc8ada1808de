import { Inject, Injectable } from '@nestjs/common';
import {
  addUsage,
  type Caller,
  type EmbeddingList,
  type EmbeddingRequest,
  estimateTokens,
  Failure,
  type ModelChoice,
  noUsage,
  type Usage,
} from '@conclave/contracts';
import {
  type Embedder,
  type EmbeddingInput,
  type EmbeddingReply,
  MODELS,
  type ModelReply,
  type Models,
  STATE,
  type StateStore,
} from '@conclave/ports';
import type { Response } from 'express';
import { CallRecords, type MadeCall } from '../chat/call-records.js';
import type { MayAsk } from '../http/caller.js';
import { asFailure, sendFailure } from '../http/failure-response.js';
import { type Candidate, ModelChoices, only } from '../models/model-choices.js';
import { ModelDirectory } from '../models/model-directory.js';
import { asNamed } from '../models/named-model.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions, ownEmbedding } from '../options.js';
import { randomRunId } from '../runs/acceptance.js';
import { Connections } from '../stream/connections.js';
import { textsOfTokens } from './token-texts.js';

/** A request whose inputs were counted. */
export interface AskedVectors extends Pick<EmbeddingRequest, 'model' | 'encoding_format' | 'dimensions'> {
  readonly input: EmbeddingInput;
  /** Whether it holds one text, or the tokens of one, rather than a list of them. */
  readonly isOne: boolean;
}

/** Requests for vectors: no run, one call that is recorded like a direct call. */
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
    @Inject(CallRecords) private readonly records: CallRecords,
    @Inject(ModelChoices) private readonly choices: ModelChoices,
  ) {}

  /**
   * Throws MODEL_NOT_FOUND, REQUEST_INVALID, REQUEST_TOO_LARGE, OVERLOADED, SHUTTING_DOWN; later failures, such as RATE_LIMITED, BUDGET_SPENT
   * and those of the model, are sent as the response.
   */
  async answer(response: Response, asked: AskedVectors, caller: Caller, mayAsk: MayAsk): Promise<void> {
    const embedder = await this.directory.embedder(asked.model, mayAsk);
    const isBuilt = typeof embedder === 'object' && 'embed' in embedder;
    const texts = isBuilt ? await textsOf(asked, this.limits.maxBodyBytes) : [];
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
      const ref = isBuilt ? ownEmbedding : typeof embedder === 'string' ? embedder : embedder.models[0]!;
      const { reply, model } = await this.records.limited(response, caller, { ref, body: { input: [...asked.input] } }, async (callId) =>
        isBuilt
          ? { reply: await this.own(embedder, texts, asked.dimensions, { callId, caller, signal: abort.signal }), model: null }
          : this.firstOf(embedder, asked, caller, callId, abort.signal),
      );
      if (left) return;
      if (model !== null) response.setHeader('x-conclave-model', model);
      response.setHeader('x-conclave-cost', String(reply.usage.cost));
      const shown = typeof embedder === 'object' && 'models' in embedder ? { ...asked, model: model ?? asked.model } : asked;
      response.status(200).json(listOf(shown, reply));
    } catch (error) {
      if (left) return;
      const stopped = abort.signal.aborted && this.connections.shuttingDown;
      sendFailure(response, stopped ? new Failure('SHUTTING_DOWN', 'Send the request again.') : asFailure(error), this.limits.retryAfterS);
    } finally {
      this.running -= 1;
    }
  }

  /** The vectors of the collections' embedder. If a model server makes them, they are recorded and charged like those of a model. */
  private async own(
    embedder: Embedder,
    texts: readonly string[],
    dimensions: AskedVectors['dimensions'],
    { callId, caller, signal }: { readonly callId: string; readonly caller: Caller; readonly signal: AbortSignal },
  ): Promise<EmbeddingReply> {
    const [began, startedAt] = [performance.now(), Date.now()];
    const paid: Usage[] = [];
    const call: MadeCall = { model: embedder.id, body: { input: [...texts] }, purpose: 'embedding', startedAt, caller };
    const keep = (reply: EmbeddingReply | null, failure: Failure | null): void => {
      if (paid.length > 0) this.connections.track(this.records.record(callId, call, reply && recorded(reply), failure));
    };
    let vectors: EmbeddingReply['vectors'];
    try {
      vectors = await embedder.embed(texts, { signal, onUsage: (usage) => void paid.push(usage) });
    } catch (error) {
      const { code, detail, options } = asFailure(error);
      // Earlier batches of the texts were paid for.
      const usage = paid.reduce(addUsage, noUsage);
      keep(null, new Failure(code, detail, { ...options, context: { ...options.context, usage } }));
      throw error;
    }
    const prompt = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
    const usage = paid.length > 0 ? paid.reduce(addUsage, noUsage) : { ...noUsage, prompt, estimated: true };
    const reply = { vectors, usage, reportedModel: null, durationMs: performance.now() - began };
    keep(reply, null);
    if (dimensions) assertLength(vectors, dimensions);
    return reply;
  }

  private async firstOf(
    models: string | ModelChoice,
    asked: AskedVectors,
    caller: Caller,
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly reply: EmbeddingReply; readonly model: string }> {
    const deadline = (await this.state.now()) + this.limits.directTimeoutMs;
    // Every call has its own record.
    let callId = id;
    const ask = async (candidate: Candidate) => {
      const made = { callId, reservation: id, caller };
      callId = randomRunId();
      return { reply: await this.asked(candidate, asked, made, { signal, deadline }), model: candidate.ref };
    };
    return this.choices.first(typeof models === 'string' ? only(models) : models, ask, () => !signal.aborted);
  }

  private async asked(
    { ref, hasOther }: Candidate,
    { model, input, dimensions }: AskedVectors,
    { callId, ...made }: { readonly callId: string; readonly reservation: string; readonly caller: Caller },
    bounds: { readonly signal: AbortSignal; readonly deadline: number },
  ): Promise<EmbeddingReply> {
    const startedAt = Date.now();
    const body = { input: [...input], ...(dimensions ? { dimensions } : {}) };
    const call: MadeCall = { model: ref, body, purpose: 'embedding', startedAt, ...made };
    const embed = this.models.embed?.bind(this.models);
    if (!embed) throw new Failure('MODEL_NOT_FOUND', `${ref} makes no embeddings.`, { param: 'model' });
    try {
      const request = { model: ref, input, ...(dimensions ? { dimensions } : {}), ...(hasOther ? { attempts: 1 } : {}) };
      const reply = await this.options.providers.call(ref, callId).make(bounds, () => embed(request, { signal: bounds.signal }));
      this.connections.track(this.records.record(callId, call, recorded(reply), null));
      if (dimensions) assertLength(reply.vectors, dimensions);
      return reply;
    } catch (error) {
      const failure = asNamed(asFailure(error), ref, model);
      if (failure.code !== 'REQUEST_INVALID') this.connections.track(this.records.record(callId, call, null, failure));
      throw failure;
    }
  }
}

const isTexts = (input: EmbeddingInput): input is readonly string[] => typeof input[0] === 'string';

const textsOf = async ({ input, isOne }: AskedVectors, mostBytes: number): Promise<readonly string[]> =>
  isTexts(input) ? input : textsOfTokens(input, { isOne, mostBytes });

/** The call as recorded in the audit, without its vectors, which are not text. */
const recorded = ({ usage, reportedModel, durationMs }: EmbeddingReply): ModelReply => ({
  ...{ content: '', reasoning: '', finishReason: 'stop', firstTokenMs: null },
  ...{ usage, reportedModel, durationMs },
});

/** Throws REQUEST_INVALID for a model that cannot shorten its vectors. */
function assertLength(vectors: readonly Float32Array[], dimensions: number): void {
  const other = vectors.find(({ length }) => length !== dimensions);
  if (!other) return;
  throw new Failure(
    'REQUEST_INVALID',
    `This model returns ${other.length} numbers per text and does not shorten them: leave out \`dimensions\` or set it to ${other.length}.`,
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
