import { createHash, randomUUID } from 'node:crypto';
import {
  CallRecorded,
  callStep,
  type Event,
  Failure,
  type FailureNote,
  isOutage,
  makeEvent,
  noUsage,
  type Service,
  type Usage,
} from '@conclave/contracts';
import type { CrashPoints, History, Logger, Metrics } from '@conclave/platform';
import type { CallMessage, CallOutcome, ModelCall, ModelReply, Models, RunStream, StateStore } from '@conclave/ports';
import { CancelWatch } from './cancel-watch.js';
import { throughOutages } from './outages.js';
import { takeSlot } from './provider-slot.js';
import { estimatedUsage, priced, usageOf, type Prices } from './usage.js';

export interface CallMakerParts {
  readonly state: StateStore;
  readonly stream: RunStream;
  readonly models: Models;
  readonly crashPoints: CrashPoints;
  readonly history: History;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly processId: string;
  readonly service: Service;
  /** What the audit keeps of prompts and replies. */
  readonly storePrompts: 'full' | 'hash' | 'none';
}

/** One call that must not be paid twice. */
export interface JournalledCall {
  readonly runId: string;
  /** Task or plan the call belongs to. */
  readonly owner: string;
  /** Number of the call inside its owner. */
  readonly index: number;
  readonly purpose: string;
  readonly request: Omit<ModelCall, 'timeoutMs'>;
  /** Milliseconds since 1970 by the store's clock. */
  readonly deadline: number;
  readonly prices: Prices;
  readonly signal: AbortSignal;
  readonly onBegun?: (attempt: number) => void | Promise<void>;
  readonly onContent?: (text: string) => void;
}

export type CallEnd =
  | {
      readonly kind: 'reply';
      readonly reply: ModelReply;
      readonly attempt: number;
      readonly replayed: boolean;
      readonly usage: Usage;
      readonly record: Event;
    }
  | { readonly kind: 'failed'; readonly failure: FailureNote; readonly attempt: number; readonly usage: Usage; readonly record: Event }
  | { readonly kind: 'cancelled'; readonly attempt: number; readonly usage: Usage; readonly record: Event | null }
  | { readonly kind: 'busy'; readonly retryInMs: number };

/** What the journal keeps of a call: its end and its record, so that a repeat publishes the same. */
interface StoredCall {
  readonly reply: ModelReply | null;
  readonly failure: FailureNote | null;
  readonly cancelled: boolean;
  readonly record: CallRecorded['data'];
}

const hash = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/**
 * Makes model and tool calls through the journal: a finished one is never made again, one that another living process makes is waited for,
 * a cancel stops it upstream within a poll interval, and each leaves a CallRecorded.
 */
export class CallMaker {
  readonly cancels: CancelWatch;

  constructor(private readonly parts: CallMakerParts) {
    this.cancels = new CancelWatch(parts.state);
  }

  async model(call: JournalledCall): Promise<CallEnd> {
    return this.journalled(call, call.request.model, call.request, async (attempt, signal, note) => {
      const release = await takeSlot(
        this.parts.state,
        this.parts.models,
        call.request.model,
        `${this.parts.processId}:${callStep(call.owner, call.index)}`,
        signal,
      );
      try {
        const now = await this.parts.state.now();
        if (now >= call.deadline) throw new Failure('CALL_TIMEOUT', 'Its time was over before a slot of its provider was free.');
        this.crash('before-call', call);
        return await this.parts.models.call(
          { ...call.request, timeoutMs: call.deadline - now },
          {
            signal,
            onDelta: (delta) => {
              note(delta.content ?? delta.reasoning ?? '');
              if (delta.content) call.onContent?.(delta.content);
              this.crash('mid-stream', call);
            },
            onRetry: (retry) =>
              this.parts.logger.warn('A model call is tried again.', {
                run: call.runId,
                code: retry.code,
                attempt: retry.attempt,
                waitMs: retry.afterMs,
              }),
          },
        );
      } finally {
        await release();
      }
    });
  }

  /** A call to a tool: the same journal and audit, no slot, no tokens. */
  async tool(
    call: Omit<JournalledCall, 'request' | 'prices' | 'onContent'> & { readonly name: string; readonly request: unknown },
    perform: (signal: AbortSignal) => Promise<string>,
  ): Promise<CallEnd> {
    const request = { model: call.name, messages: [] as CallMessage[], tool: call.request };
    const end = await this.journalled({ ...call, request, prices: {} }, call.name, call.request, async (_attempt, signal) => {
      const from = performance.now();
      this.crash('before-call', call);
      const content = await perform(
        AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, call.deadline - (await this.parts.state.now())))]),
      );
      return {
        content,
        reasoning: '',
        finishReason: 'stop',
        usage: noUsage,
        reportedModel: null,
        firstTokenMs: null,
        durationMs: Math.round(performance.now() - from),
      };
    });
    return end;
  }

  private async journalled(
    call: JournalledCall,
    name: string,
    request: unknown,
    perform: (attempt: number, signal: AbortSignal, note: (text: string) => void) => Promise<ModelReply>,
  ): Promise<CallEnd> {
    const { state, history, processId, service } = this.parts;
    const step = callStep(call.owner, call.index);
    const begun = await state.journal.begin({ runId: call.runId, step, nonce: randomUUID(), owner: processId });
    if (begun.kind === 'busy') return begun;
    if (begun.kind === 'done') return this.replay(call, step, begun.outcome, begun.attempt);
    const { attempt } = begun;
    if (begun.repeated) this.parts.metrics.count('duplicate_calls_total', { purpose: call.purpose });
    const at = { runId: call.runId, step, attempt };
    let startedAt = 0;
    const from = performance.now();
    let arrived = '';
    let reply: ModelReply | null = null;
    let failure: FailureNote | null = null;
    let cancelled = false;
    let watch: Awaited<ReturnType<CancelWatch['watch']>> | null = null;
    try {
      await call.onBegun?.(attempt);
      watch = await this.cancels.watch([call.runId, call.owner], call.signal);
      startedAt = await state.now();
      history.write({ actor: service, op: 'call', phase: 'invoke', id: step, data: { attempt, model: name } });
      reply = await perform(attempt, watch.signal, (text) => {
        arrived += text;
      });
    } catch (error) {
      cancelled = watch?.cancelled() ?? false;
      const handedBack = call.signal.aborted && !cancelled;
      if (handedBack || !(error instanceof Failure) || isOutage(error)) {
        // Not an outcome of the call: the process is stopping, a store is away, or our own code failed. Whoever gets the record next begins again.
        await throughOutages(() => state.journal.abandon(at), call.signal);
        throw error;
      }
      failure = { code: error.code, message: error.message, retriable: error.retriable };
    } finally {
      watch?.stop();
    }
    const tokens = reply ? usageOf(reply, call.prices[name]) : priced(estimatedUsage(call.request.messages, arrived), call.prices[name]);
    const usage = name.includes('@') ? tokens : noUsage;
    const stored: StoredCall = {
      reply,
      failure,
      cancelled,
      record: this.record(call, {
        step,
        attempt,
        name,
        request,
        reply,
        failure,
        cancelled,
        usage,
        startedAt,
        durationMs: Math.round(performance.now() - from),
      }),
    };
    // The call is paid: its outcome is kept until the journal has it, however long the store is away.
    const said = await throughOutages(() => state.journal.finish(at, { ok: true, reply: stored }), call.signal);
    history.write({ actor: service, op: 'call', phase: reply ? 'ok' : 'fail', id: step, data: { attempt, stored: said } });
    if (said === 'refused') return { kind: 'busy', retryInMs: 250 };
    this.crash('after-call', call);
    return this.ended(call, stored, attempt, false);
  }

  private replay(call: JournalledCall, step: string, outcome: CallOutcome, attempt: number): CallEnd {
    this.parts.history.write({ actor: this.parts.service, op: 'call', phase: 'replayed', id: step, data: { attempt } });
    if (outcome.ok) return this.ended(call, outcome.reply as StoredCall, attempt, true);
    return {
      kind: 'failed',
      failure: outcome.failure,
      attempt,
      usage: noUsage,
      record: this.event(
        call,
        this.record(call, {
          step,
          attempt,
          name: call.request.model,
          request: null,
          reply: null,
          failure: outcome.failure,
          cancelled: false,
          usage: noUsage,
          startedAt: 0,
          durationMs: 0,
        }),
      ),
    };
  }

  private ended(call: JournalledCall, stored: StoredCall, attempt: number, replayed: boolean): CallEnd {
    const record = this.event(call, stored.record);
    const { usage } = stored.record;
    if (stored.cancelled) return { kind: 'cancelled', attempt, usage, record };
    if (stored.reply) return { kind: 'reply', reply: stored.reply, attempt, replayed, usage, record };
    return { kind: 'failed', failure: stored.failure!, attempt, usage, record };
  }

  private event(call: JournalledCall, data: CallRecorded['data']): Event {
    return makeEvent(
      CallRecorded,
      { id: `${data.step}/${data.attempt}`, runId: call.runId, source: this.parts.service, time: Date.now() },
      data,
    );
  }

  private record(
    call: JournalledCall,
    end: {
      step: string;
      attempt: number;
      name: string;
      request: unknown;
      reply: ModelReply | null;
      failure: FailureNote | null;
      cancelled: boolean;
      usage: Usage;
      startedAt: number;
      durationMs: number;
    },
  ): CallRecorded['data'] {
    const full = this.parts.storePrompts === 'full';
    return {
      step: end.step,
      attempt: end.attempt,
      purpose: call.purpose,
      model: end.name,
      reportedModel: end.reply?.reportedModel ?? null,
      status: end.cancelled ? 'cancelled' : end.reply ? 'ok' : end.failure?.code === 'CALL_TIMEOUT' ? 'timeout' : 'error',
      requestHash: this.parts.storePrompts === 'none' ? '' : hash(end.request),
      request: full ? end.request : null,
      reply:
        full && end.reply ? { content: end.reply.content, reasoning: end.reply.reasoning, finishReason: end.reply.finishReason } : null,
      failure: end.failure,
      usage: end.usage,
      startedAt: end.startedAt,
      durationMs: end.durationMs,
      firstTokenMs: end.reply?.firstTokenMs ?? null,
    };
  }

  private crash(point: 'before-call' | 'mid-stream' | 'after-call', call: { readonly owner: string }): void {
    this.parts.crashPoints.reached(this.parts.service, point, call.owner);
  }
}
