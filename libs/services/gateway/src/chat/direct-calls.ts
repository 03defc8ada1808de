import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CallRecorded, type Caller, callStep, Failure, makeEvent, noUsage, Usage, type UtilityPrompt } from '@conclave/contracts';
import {
  chunksOf,
  EVENT_LOG,
  type EventLog,
  type JsonObject,
  type ModelReply,
  MODELS,
  type Models,
  paidCallOf,
  type PassedReply,
  STATE,
  type StateStore,
} from '@conclave/ports';
import type { Response } from 'express';
import { RemoteImages } from '../attachments/remote-images.js';
import { withoutBodies } from '../attachments/content-parts.js';
import { asFailure, sendFailure } from '../http/failure-response.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { randomRunId } from '../runs/acceptance.js';
import { Connections } from '../stream/connections.js';
import type { AnswerShape } from './answer-shape.js';
import type { ChunkFrame } from './chat-shapes.js';
import { DirectStream } from './direct-stream.js';
import type { PassedQuestion } from './passed-request.js';
import { inShape } from './utility-requests.js';

/** Who asks, and in which API. */
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
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(STATE) private readonly state: Pick<StateStore, 'usage' | 'now'>,
    @Inject(Connections) private readonly connections: Connections,
    @Inject(RemoteImages) private readonly images: RemoteImages,
  ) {}

  /** Throws OVERLOADED, SHUTTING_DOWN before the model is called. */
  async answer(
    response: Response,
    question: PassedQuestion,
    ref: string,
    { caller, shape }: Asker,
    utility?: UtilityPrompt,
  ): Promise<void> {
    await this.counted(() => this.call(response, question, ref, { caller, shape }, utility));
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
   * Makes a call for a run, whole. Its failure is no reply, and costs what it costs; the call is recorded as one of the run in any case.
   * Throws OVERLOADED, SHUTTING_DOWN, and CALL_CANCELLED when the client left meanwhile.
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
      // Two gateways may ask for one run, each for a repeat of its request: both calls are paid, and both are counted.
      const callId = `${runId}/tools/${randomRunId().slice(-6)}`;
      const request = { model: ref, body: await this.images.inlined(question.body, abort.signal), purpose: 'tools' };
      let reply: PassedReply | null = null;
      let failure: Failure | null = null;
      try {
        reply = await this.made(ref, callId, request.body, abort.signal);
      } catch (error) {
        failure = asFailure(error);
      } finally {
        response.off('close', left);
      }
      this.connections.track(this.record(runId, request, startedAt, caller, reply, failure, callId));
      if (response.destroyed || abort.signal.aborted) throw new Failure('CALL_CANCELLED');
      return { reply, usage: reply?.usage ?? usedBy(failure) };
    });
  }

  private async made(
    ref: string,
    callId: string,
    body: JsonObject,
    signal: AbortSignal,
    onChunk?: (chunk: JsonObject) => void,
  ): Promise<PassedReply> {
    const deadline = (await this.state.now()) + this.limits.directTimeoutMs;
    return this.options.providers
      .call(ref, callId)
      .make({ signal, deadline }, (timeoutMs) =>
        this.models.pass({ model: ref, body, timeoutMs }, { signal, ...(onChunk ? { onChunk } : {}) }),
      );
  }

  /** The end of an answer; of a stream whose chunks went out already, the body is null. */
  private async sent(
    response: Response,
    { includeUsage }: PassedQuestion,
    { frame, shape, stream }: { readonly frame: ChunkFrame; readonly shape: AnswerShape; readonly stream: DirectStream | null },
    { usage }: PassedReply,
    whole: JsonObject | null,
  ): Promise<void> {
    if (stream) {
      if (whole) for (const chunk of chunksOf(whole, includeUsage)) stream.take(chunk);
      await this.kept(shape, frame, null);
      stream.finish();
    } else {
      await this.kept(shape, frame, whole);
      response.setHeader('x-conclave-cost', String(usage.cost));
      response.status(200).json(shape.whole({ ...whole, id: frame.id, model: frame.model }, frame));
    }
  }

  private async call(
    response: Response,
    question: PassedQuestion,
    ref: string,
    { caller, shape }: Asker,
    utility?: UtilityPrompt,
  ): Promise<void> {
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    const body = await this.images.inlined(question.body, abort.signal);
    if (response.destroyed) return;
    const callId = randomRunId();
    const frame = frameOf(shape, callId, question);
    await shape.begun?.(frame, null);
    let left = false;
    const stream = question.stream
      ? new DirectStream(response, frame, shape, this.limits, this.options.metrics, () => abort.abort())
      : null;
    this.connections.watch(
      response,
      () => {
        left = true;
        stream?.left();
        abort.abort();
      },
      () => abort.abort(),
    );
    const request = { model: ref, body, purpose: utility ? 'utility' : 'direct' };
    if (utility) response.setHeader('x-conclave-utility', ref);
    const startedAt = Date.now();
    let reply: PassedReply | null = null;
    try {
      reply = await this.made(ref, callId, body, abort.signal, stream ? (chunk) => stream.take(chunk) : undefined);
      this.connections.track(this.record(callId, request, startedAt, caller, reply, null));
      const whole = reply.body && utility ? inShape(reply.body, utility) : reply.body;
      if (stream || !left) await this.sent(response, question, { frame, shape, stream }, reply, whole);
    } catch (error) {
      const failure = asFailure(error);
      if (!reply) this.connections.track(this.record(callId, request, startedAt, caller, null, failure));
      if (left) return;
      const shown =
        abort.signal.aborted && this.connections.shuttingDown
          ? new Failure('SHUTTING_DOWN', 'The call to the model was interrupted. Send the request again.')
          : failure;
      if (stream?.opened) stream.fail(shown);
      else if (!response.headersSent && !response.destroyed) {
        stream?.abandon();
        sendFailure(response, shown, this.limits.retryAfterS, reply !== null || abort.signal.aborted);
      }
    }
  }

  /** Lets the API keep the answer. It was paid for: a client can do without its storage, but not without the answer. */
  private async kept(shape: AnswerShape, frame: ChunkFrame, completion: JsonObject | null): Promise<void> {
    try {
      await shape.ended?.(frame, completion);
    } catch (error) {
      this.options.logger.warn('the answer of a direct call could not be stored', { id: frame.id, error });
    }
  }

  /** Records every call, even when its client left: its tokens were spent. Never rejects. */
  async record(
    runId: string,
    call: { readonly model: string; readonly body: JsonObject; readonly purpose: string },
    startedAt: number,
    caller: Caller,
    reply: ModelReply | null,
    failure: Failure | null,
    owner = `${runId}/${call.purpose}`,
  ): Promise<void> {
    const request = { ...withoutBodies(call.body), model: call.model };
    const keep = this.options.recordPrompts === true;
    const step = callStep(owner, 0);
    try {
      const event = makeEvent(
        CallRecorded,
        { id: `${step}/1`, runId, source: 'gateway', time: startedAt },
        {
          step,
          attempt: 1,
          purpose: call.purpose,
          model: call.model,
          reportedModel: reply?.reportedModel ?? null,
          status: reply ? 'ok' : failure?.code === 'CALL_CANCELLED' ? 'cancelled' : failure?.code === 'CALL_TIMEOUT' ? 'timeout' : 'error',
          requestHash: createHash('sha256').update(JSON.stringify(request)).digest('hex'),
          request: keep ? request : null,
          reply: keep && reply ? { content: reply.content, reasoning: reply.reasoning } : null,
          failure: failure ? { code: failure.code, message: failure.message, retriable: failure.retriable } : null,
          usage: reply?.usage ?? usedBy(failure),
          caller,
          startedAt,
          durationMs: Math.max(0, Math.round(reply?.durationMs ?? Date.now() - startedAt)),
          firstTokenMs: reply?.firstTokenMs === null || reply === null ? null : Math.round(reply.firstTokenMs),
        },
      );
      this.options.metrics.onCall(event);
      await Promise.all([this.log.publish([event]), this.state.usage.add(paidCallOf(event))]);
    } catch (error) {
      this.options.logger.error('a direct call could not be written to the audit or the usage ledger', {
        step,
        actor: caller.actor,
        tenant: caller.tenant,
        error,
      });
    }
  }
}

const frameOf = ({ prefix }: AnswerShape, callId: string, { model }: PassedQuestion): ChunkFrame => ({
  id: prefix + callId.slice('run_'.length),
  created: Math.floor(Date.now() / 1000),
  model,
});

/** Usage the adapter had counted when the call failed, else just the call. */
function usedBy(failure: Failure | null): Usage {
  const counted = Usage.safeParse(failure?.options.context?.['usage']);
  return counted.success ? counted.data : { ...noUsage, calls: 1 };
}
