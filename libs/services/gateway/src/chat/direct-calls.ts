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
import type { ChunkFrame } from './chat-shapes.js';
import { DirectStream } from './direct-stream.js';
import type { PassedQuestion } from './passed-request.js';
import { inShape } from './utility-requests.js';

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
  async answer(response: Response, question: PassedQuestion, ref: string, caller: Caller, utility?: UtilityPrompt): Promise<void> {
    if (this.connections.shuttingDown) throw new Failure('SHUTTING_DOWN');
    if (this.running >= this.limits.directCalls) throw new Failure('OVERLOADED', `${this.running} direct calls are open.`);
    this.running += 1;
    try {
      await this.call(response, question, ref, caller, utility);
    } finally {
      this.running -= 1;
    }
  }

  private async call(response: Response, question: PassedQuestion, ref: string, caller: Caller, utility?: UtilityPrompt): Promise<void> {
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    const body = await this.images.inlined(question.body, abort.signal);
    if (response.destroyed) return;
    const callId = randomRunId();
    const frame: ChunkFrame = {
      id: `chatcmpl-${callId.slice('run_'.length)}`,
      created: Math.floor(Date.now() / 1000),
      model: question.model,
    };
    let left = false;
    const stream = question.stream ? new DirectStream(response, frame, this.limits, this.options.metrics, () => abort.abort()) : null;
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
    try {
      const deadline = (await this.state.now()) + this.limits.directTimeoutMs;
      const reply = await this.options.providers
        .call(ref, callId)
        .make({ signal: abort.signal, deadline }, (timeoutMs) =>
          this.models.pass(
            { model: ref, body, timeoutMs },
            { signal: abort.signal, ...(stream ? { onChunk: (chunk) => stream.take(chunk) } : {}) },
          ),
        );
      this.connections.track(this.record(callId, request, startedAt, caller, reply, null));
      const whole = reply.body && utility ? inShape(reply.body, utility) : reply.body;
      if (stream) {
        if (whole) for (const chunk of chunksOf(whole, question.includeUsage)) stream.take(chunk);
        stream.finish();
      } else if (!left) {
        response.setHeader('x-conclave-cost', String(reply.usage.cost));
        response.status(200).json({ ...whole, id: frame.id, model: frame.model });
      }
    } catch (error) {
      const failure = asFailure(error);
      this.connections.track(this.record(callId, request, startedAt, caller, null, failure));
      if (left) return;
      const shown =
        abort.signal.aborted && this.connections.shuttingDown
          ? new Failure('SHUTTING_DOWN', 'The call to the model was interrupted. Send the request again.')
          : failure;
      if (stream?.opened) stream.fail(shown);
      else if (!response.headersSent && !response.destroyed) {
        stream?.abandon();
        sendFailure(response, shown, this.limits.retryAfterS);
      }
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
  ): Promise<void> {
    const request = { ...withoutBodies(call.body), model: call.model };
    const keep = this.options.recordPrompts === true;
    const step = callStep(`${runId}/${call.purpose}`, 0);
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

/** Usage the adapter had counted when the call failed, else just the call. */
function usedBy(failure: Failure | null): Usage {
  const counted = Usage.safeParse(failure?.options.context?.['usage']);
  return counted.success ? counted.data : { ...noUsage, calls: 1 };
}
