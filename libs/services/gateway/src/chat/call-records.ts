import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  addUsage,
  CallRecorded,
  type Caller,
  callStep,
  type Failure,
  makeEvent,
  noteOf,
  noUsage,
  type Template,
  Usage,
} from '@conclave/contracts';
import { EVENT_LOG, type EventLog, type JsonObject, type ModelReply, paidCallOf, STATE, type StateStore } from '@conclave/ports';
import type { Response } from 'express';
import { needOfCall } from '../accounts/needs.js';
import { Reservations } from '../accounts/reservations.js';
import { withoutBodies } from '../attachments/content-parts.js';
import { withoutEndUser } from '../http/caller.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';
import { randomRunId } from '../runs/acceptance.js';

/** A call to a model outside the workers of a run. */
export interface MadeCall {
  readonly model: string;
  readonly body: JsonObject;
  readonly purpose: string;
  readonly startedAt: number;
  readonly caller: Caller;
  /** Owner of its step; by default the id and the purpose. */
  readonly owner?: string;
  /** Id under which its limits were reserved; by default its own. */
  readonly reservation?: string;
}

/** The usage under one reservation. */
interface Spending {
  usage: Usage;
  /** Records that are being written. */
  pending: number;
  hasEnded: boolean;
}

/** Keeps direct calls within the limits of their key, and records them on the audit and in the ledger. */
@Injectable()
export class CallRecords {
  private readonly spending = new Map<string, Spending>();

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: Pick<GatewayLimits, 'reserveTokens'>,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(STATE) private readonly state: Pick<StateStore, 'usage'>,
    @Inject(Reservations) private readonly reservations: Reservations,
  ) {}

  /**
   * Makes a call, or one call after the other until a model answers, within the limits of the request's key. Returns the unused part of the
   * reservation. Throws RATE_LIMITED, BUDGET_SPENT.
   */
  async limited<T>(
    response: Response,
    { user }: Pick<Caller, 'user'>,
    { ref, body }: { readonly ref: string; readonly body: JsonObject },
    act: (callId: string) => Promise<T>,
  ): Promise<T> {
    const callId = randomRunId();
    await this.reservations.reserve(response.req, user, () => ({
      ...{ runId: callId, sort: 'call', kind: ref },
      ...needOfCall(withoutBodies(body), this.priceOf(ref), this.limits.reserveTokens),
    }));
    const spending: Spending = { usage: noUsage, pending: 0, hasEnded: false };
    this.spending.set(callId, spending);
    try {
      return await act(callId);
    } finally {
      spending.hasEnded = true;
      if (spending.pending === 0) await this.settle(callId, spending);
    }
  }

  private priceOf(ref: string): Template['prices'][string] | undefined {
    return this.options.catalogue.templates().find(({ prices }) => prices[ref])?.prices[ref];
  }

  /** Records every call, even when its client disconnected: its tokens were used. Never rejects. */
  async record(id: string, call: MadeCall, reply: ModelReply | null, failure: Failure | null): Promise<void> {
    const { caller, reservation = id } = call;
    const usage = reply?.usage ?? usedBy(failure);
    const step = callStep(call.owner ?? `${id}/${call.purpose}`, 0);
    const spending = this.spending.get(reservation);
    if (spending) spending.pending += 1;
    try {
      const event = this.eventOf(id, step, call, usage, reply, failure);
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
    if (!spending) return;
    spending.pending -= 1;
    spending.usage = addUsage(spending.usage, usage);
    if (spending.hasEnded && spending.pending === 0) await this.settle(reservation, spending);
  }

  private async settle(callId: string, { usage }: Spending): Promise<void> {
    this.spending.delete(callId);
    await this.reservations.settle(callId, usage);
  }

  private eventOf(id: string, step: string, call: MadeCall, usage: Usage, reply: ModelReply | null, failure: Failure | null): CallRecorded {
    const { startedAt, caller } = call;
    const request = { ...withoutEndUser(withoutBodies(call.body)), model: call.model };
    const keep = this.options.recordPrompts === true;
    return makeEvent(
      CallRecorded,
      { id: `${step}/1`, runId: id, source: 'gateway', time: startedAt },
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
        failure: failure ? noteOf(failure) : null,
        usage,
        caller,
        startedAt,
        durationMs: Math.max(0, Math.round(reply?.durationMs ?? Date.now() - startedAt)),
        ...(reply?.repeated ? { repeated: reply.repeated } : {}),
        firstTokenMs: reply?.firstTokenMs === null || reply === null ? null : Math.round(reply.firstTokenMs),
      },
    );
  }
}

/** Usage that the adapter had counted when the call failed, otherwise one call. */
export function usedBy(failure: Failure | null): Usage {
  const counted = Usage.safeParse(failure?.options.context?.['usage']);
  return counted.success ? counted.data : { ...noUsage, calls: 1 };
}
