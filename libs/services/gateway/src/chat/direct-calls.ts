import { Inject, Injectable } from '@nestjs/common';
import { type Caller, Failure, type ModelChoice, type Usage, type UtilityPrompt } from '@conclave/contracts';
import { chunksOf, type JsonObject, MODELS, type Models, type PassedReply, STATE, type StateStore } from '@conclave/ports';
import type { Response } from 'express';
import { RemoteImages } from '../attachments/remote-images.js';
import { asFailure, sendFailure } from '../http/failure-response.js';
import { keepAlive, sendJson } from '../http/json-answer.js';
import { type Candidate, ModelChoices, only } from '../models/model-choices.js';
import { asNamed } from '../models/named-model.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { randomRunId } from '../runs/acceptance.js';
import { Connections } from '../stream/connections.js';
import type { AnswerShape } from './answer-shape.js';
import { CallRecords, usedBy } from './call-records.js';
import type { ChunkFrame } from './chat-shapes.js';
import { DirectStream } from './direct-stream.js';
import type { PassedQuestion } from './passed-request.js';
import { repetitionEnd, unlessRepeating } from './repeating-streams.js';
import { inShape } from './utility-requests.js';

/** The caller, and the API it used. */
export interface Asker {
  readonly caller: Caller;
  readonly shape: AnswerShape;
}

/** Requests to `model@provider`: one upstream model, no run. */
@Injectable()
export class DirectCalls {
  private running = 0;

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(MODELS) private readonly models: Models,
    @Inject(STATE) private readonly state: Pick<StateStore, 'now'>,
    @Inject(Connections) private readonly connections: Connections,
    @Inject(RemoteImages) private readonly images: RemoteImages,
    @Inject(ModelChoices) private readonly choices: ModelChoices,
    @Inject(CallRecords) private readonly records: CallRecords,
  ) {}

  /** `models`: one, or several of which one answers. Throws OVERLOADED, SHUTTING_DOWN, RATE_LIMITED, BUDGET_SPENT before a model is called. */
  async answer(
    response: Response,
    question: PassedQuestion,
    models: string | ModelChoice,
    asker: Asker,
    utility?: UtilityPrompt,
  ): Promise<void> {
    const ref = typeof models === 'string' ? models : models.models[0]!;
    await this.counted(() =>
      this.records.limited(response, asker.caller, { ref, body: question.body }, (callId) =>
        this.call(response, question, models, asker, callId, utility),
      ),
    );
  }

  private async counted<T>(act: () => Promise<T>): Promise<T> {
    if (this.connections.shuttingDown) throw new Failure('SHUTTING_DOWN');
    if (this.running >= this.limits.directCalls) throw new Failure('OVERLOADED', `${this.running} direct calls are open.`);
    this.running += 1;
    try {
      return await act();
    } finally {
      this.running -= 1;
    }
  }

  /**
   * Makes a whole call for a run. A failed call returns no reply but is charged; the call is recorded as one of the run in any case. Throws
   * OVERLOADED, SHUTTING_DOWN, and CALL_CANCELLED when the client disconnected meanwhile.
   */
  async asked(
    runId: string,
    question: PassedQuestion,
    ref: string,
    caller: Caller,
    response: Response,
  ): Promise<{ readonly reply: PassedReply | null; readonly usage: Usage }> {
    return this.counted(async () => {
      const abort = new AbortController();
      const left = (): void => abort.abort();
      response.once('close', left);
      const startedAt = Date.now();
      // Two gateways may make this call for one run, each for a repeat of its request: both calls are charged and counted.
      const owner = `${runId}/tools/${randomRunId().slice(-6)}`;
      const body = await this.images.inlined(question.body, abort.signal);
      let reply: PassedReply | null = null;
      let failure: Failure | null = null;
      try {
        reply = await this.made(ref, owner, body, abort.signal);
      } catch (error) {
        failure = asFailure(error);
      } finally {
        response.off('close', left);
      }
      this.connections.track(this.records.record(runId, { model: ref, body, purpose: 'tools', startedAt, caller, owner }, reply, failure));
      if (response.destroyed || abort.signal.aborted) throw new Failure('CALL_CANCELLED');
      return { reply, usage: reply?.usage ?? usedBy(failure) };
    });
  }

  private async made(
    ref: string,
    callId: string,
    body: JsonObject,
    signal: AbortSignal,
    { onChunk, attempts, deadline }: { onChunk?: (chunk: JsonObject) => void; attempts?: number; deadline?: number } = {},
  ): Promise<PassedReply> {
    const until = deadline ?? (await this.state.now()) + this.limits.directTimeoutMs;
    return this.options.providers
      .call(ref, callId)
      .make({ signal, deadline: until }, (timeoutMs) =>
        unlessRepeating(
          { models: this.models, limit: this.options.repetitionLimit ?? 0, logger: this.options.logger },
          { model: ref, body, timeoutMs, ...(attempts ? { attempts } : {}) },
          { signal, ...(onChunk ? { onChunk } : {}) },
        ),
      );
  }

  /** The end of an answer; the body is null for a stream whose chunks were already sent. */
  private async sent(
    response: Response,
    { includeUsage }: PassedQuestion,
    { frame, shape, stream }: { readonly frame: ChunkFrame; readonly shape: AnswerShape; readonly stream: DirectStream | null },
    { usage, repeated }: PassedReply,
    whole: JsonObject | null,
  ): Promise<void> {
    if (stream) {
      if (repeated) for (const chunk of repetitionEnd(frame, includeUsage ? usage : null)) stream.take(chunk);
      if (whole) for (const chunk of chunksOf(whole, includeUsage)) stream.take(chunk);
      await this.kept(shape, frame, null);
      stream.finish();
    } else {
      await this.kept(shape, frame, whole);
      sendJson(response, shape.whole({ ...whole, id: frame.id, model: frame.model }, frame), { 'x-conclave-cost': String(usage.cost) });
    }
  }

  private async call(
    response: Response,
    question: PassedQuestion,
    models: string | ModelChoice,
    { caller, shape }: Asker,
    id: string,
    utility?: UtilityPrompt,
  ): Promise<void> {
    const abort = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) abort.abort();
    });
    const body = await this.images.inlined(question.body, abort.signal);
    if (response.destroyed) return;
    const frame = frameOf(shape, id, question);
    await shape.begun?.(frame, null);
    let left = false;
    const now: { stream: DirectStream | null } = { stream: null };
    this.connections.watch(
      response,
      () => {
        left = true;
        now.stream?.left();
        abort.abort();
      },
      () => abort.abort(),
    );
    if (utility) response.setHeader('x-conclave-utility', String(models));
    // Another model may still answer; the body will name it.
    const forgetModel = (): void => void (typeof models === 'string' || response.removeHeader('x-conclave-model'));
    if (!question.stream && (question.keepAlive ?? this.limits.keepAliveJson)) keepAlive(response, this.limits, forgetModel);
    const purpose = utility ? 'utility' : 'direct';
    let deadline: number | undefined;
    let hasAnswered = false;
    const ask = async ({ ref, hasOther }: Candidate): Promise<void> => {
      // Every call has its own record; the first has the id of the answer.
      const callId = deadline === undefined ? id : randomRunId();
      const request = { model: ref, body, purpose };
      const shown = typeof models === 'string' ? frame : { ...frame, model: ref };
      if (!response.headersSent) response.setHeader('x-conclave-model', ref);
      // While another model may answer, the head waits as long as possible: once it is sent, no other model can be called.
      const headMs = hasOther ? this.limits.firstHeartbeatMs : this.limits.directHeadMs;
      const stream = question.stream
        ? new DirectStream(response, shown, shape, this.limits, this.options.metrics, () => abort.abort(), headMs)
        : null;
      now.stream = stream;
      const startedAt = Date.now();
      let failure: Failure | null = null;
      let reply: PassedReply | null = null;
      try {
        deadline ??= (await this.state.now()) + this.limits.directTimeoutMs;
        const watch = { ...(stream ? { onChunk: (chunk: JsonObject) => stream.take(chunk) } : {}), ...(hasOther ? { attempts: 1 } : {}) };
        reply = await this.made(ref, callId, body, abort.signal, { ...watch, deadline });
        const whole = reply.body && utility ? inShape(reply.body, utility) : reply.body;
        if (stream || !left) await this.sent(response, question, { frame: shown, shape, stream }, reply, whole);
      } catch (error) {
        failure = asNamed(asFailure(error), ref, question.model);
        if (!stream?.opened) stream?.abandon();
        throw failure;
      } finally {
        // Not awaited: the client does not wait for the record.
        this.connections.track(
          this.records.record(callId, { ...request, startedAt, caller, reservation: id }, reply, reply ? null : failure),
        );
        hasAnswered = reply !== null;
      }
    };
    try {
      const choice = typeof models === 'string' ? only(models) : models;
      await this.choices.first(choice, ask, () => !abort.signal.aborted && !now.stream?.opened);
    } catch (error) {
      if (left) return;
      const shown =
        abort.signal.aborted && this.connections.shuttingDown
          ? new Failure('SHUTTING_DOWN', 'The call to the model was interrupted. Send the request again.')
          : asFailure(error);
      if (now.stream?.opened) now.stream.fail(shown);
      else if (!response.destroyed) {
        if (!response.headersSent) response.removeHeader('x-conclave-model');
        sendFailure(response, shown, this.limits.retryAfterS, hasAnswered || abort.signal.aborted);
      }
    }
  }

  /** Lets the API store the answer. The answer was paid for, so it is returned even if storing it fails. */
  private async kept(shape: AnswerShape, frame: ChunkFrame, completion: JsonObject | null): Promise<void> {
    try {
      await shape.ended?.(frame, completion);
    } catch (error) {
      this.options.logger.warn('the answer of a direct call could not be stored', { id: frame.id, error });
    }
  }
}

const frameOf = ({ prefix }: AnswerShape, callId: string, { model }: PassedQuestion): ChunkFrame => ({
  id: prefix + callId.slice('run_'.length),
  created: Math.floor(Date.now() / 1000),
  model,
});
