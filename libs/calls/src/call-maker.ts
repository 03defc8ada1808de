import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { callStep, Failure, type FailureNote, isOutage, noteOf, noUsage, type Usage } from '@conclave/contracts';
import { reachedDurably, type Metrics } from '@conclave/platform';
import {
  isPaid,
  leaseRenewMs,
  leaseTtlMs,
  nothingLeft,
  type BeginResult,
  type CallOutcome,
  type JournalCall,
  type ModelReply,
  type Paid,
  type RunStream,
  type StateStore,
} from '@conclave/ports';
import { boundedCall, type BoundedCallParts, type Running } from './bounded-call.js';
import { keptCallOf, recordedAt, recordEvent, recordOf, wholeCall, type KeptCall, type Retry, type StoredCall } from './call-record.js';
import type { CapabilityGuard } from './capability-guard.js';
import type { AskedMessage, CallEnd, Calls, JournalledCall, JournalledModelCall, JournalledToolCall } from './calls.js';
import { CancelWatch } from './cancel-watch.js';
import { retryDuringOutage } from './outages.js';
import { withTimeout } from './with-timeout.js';
import { ProviderAccess } from './provider-access.js';
import { priced, spentBy, usageOf } from './usage.js';

export interface CallMakerParts extends BoundedCallParts {
  readonly state: StateStore;
  readonly stream: RunStream;
  readonly metrics: Metrics;
  readonly processId: string;
  /** Guards the calls of tasks that need a capability token; null only in tests of other things. */
  readonly guard: CapabilityGuard | null;
  /** What the audit keeps of prompts and replies. */
  readonly storePrompts: 'full' | 'hash' | 'none';
}

/** Milliseconds after which a begun step may belong to another process: this one may have been frozen past its lease. */
const ownedMs = leaseTtlMs - leaseRenewMs;

/** Another process has begun the step again, because this one was presumed dead. */
class Overtaken extends Error {}

/** Milliseconds between two checks whether a parked run has a waiting client again. */
const parkedRetryMs = 1_000;

/** Tool names have no `@`: tools use no tokens, so nothing is counted for them. */
const isModel = (name: string): boolean => name.includes('@');

/** The usage ledger entry for the end of a call, whatever the outcome. */
const paidFor = (name: string, usage: Usage, at: number): Paid | undefined =>
  isModel(name) && isPaid(usage) ? { usage, at, model: name } : undefined;

/** Returns the work as a promise that is awaited later, or never. Its failure does not become an unhandled rejection. */
function awaitedLater(work: void | Promise<void>): Promise<void> {
  const promise = Promise.resolve(work);
  promise.catch(() => undefined);
  return promise;
}

const cancelledNote: FailureNote = { code: 'CALL_CANCELLED', message: 'The call was cancelled.', retriable: false };

/**
 * Makes model and tool calls through the journal: a finished call is never repeated, a call in progress in another living process ends as
 * `busy`, and a cancel stops a call upstream within a poll interval. Each finished call has a CallRecorded event.
 */
export class CallMaker implements Calls {
  readonly cancels: CancelWatch;
  private readonly providers: ProviderAccess;
  private readonly closing = new AbortController();

  constructor(private readonly parts: CallMakerParts) {
    this.cancels = new CancelWatch(parts.state);
    this.providers = new ProviderAccess(parts);
    // Every call that waits for a store listens, and removes its listener when it continues.
    setMaxListeners(Infinity, this.closing.signal);
  }

  /** Stops waiting for stores: the process ends, and its lease with it. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.providers.close();
    await this.cancels.close();
  }

  async model(call: JournalledModelCall): Promise<CallEnd> {
    const { model } = call.request;
    const holder = `${this.parts.processId}:${callStep(call.owner, call.index)}`;
    const provider = this.providers.call(model, holder);
    // Called before the call is announced for this model.
    const look = (): Promise<void> => provider.look();
    return this.journalled({ ...call, look }, model, call.request, (running) =>
      provider.make({ signal: running.signal, deadline: call.deadline, waits: running.waits }, async (timeoutMs) => {
        const messages = call.fillIn ? await call.fillIn(call.request.messages) : call.request.messages;
        return boundedCall(this.parts, call, messages, running, timeoutMs);
      }),
    );
  }

  /** A call to a tool: same journal and audit, but no slot and no tokens. A tool that ignores its signal is abandoned. */
  async tool(call: JournalledToolCall, perform: (signal: AbortSignal) => Promise<string>): Promise<CallEnd> {
    const request = { model: call.name, messages: [] as AskedMessage[], tool: call.request };
    return this.journalled({ ...call, request, prices: {} }, call.name, call.request, async (running) => {
      const from = performance.now();
      const now = await this.parts.state.now();
      const timeoutMs = call.deadline - now;
      const make = async (): Promise<string> => {
        if (timeoutMs <= 0) throw new Failure('CALL_TIMEOUT', 'Its deadline passed before it started.');
        await running.making();
        this.crash('before-call', call);
        if (running.signal.aborted) throw new Failure('CALL_CANCELLED');
        running.sent();
        return withTimeout(perform, running.signal, timeoutMs);
      };
      const { task, isError } = call;
      const by = `${this.parts.processId}:${callStep(call.owner, call.index)}`;
      const content = await (task && this.parts.guard ? this.parts.guard.call({ task, by, now, timeoutMs, isError }, make) : make());
      const durationMs = Math.round(performance.now() - from);
      return { content, reasoning: '', finishReason: 'stop', usage: noUsage, reportedModel: null, firstTokenMs: null, durationMs };
    });
  }

  private async journalled(
    call: JournalledCall & { readonly look?: () => Promise<void> },
    name: string,
    request: unknown,
    perform: (running: Running) => Promise<ModelReply>,
  ): Promise<CallEnd> {
    const { state, probe, processId, service, metrics, storePrompts } = this.parts;
    const step = callStep(call.owner, call.index);
    const beginning = { runId: call.runId, step, nonce: randomUUID(), owner: processId };
    const from = performance.now();
    const elapsed = (): number => Math.round(performance.now() - from);
    // Subscribes before the first check, which happens when the step begins: a cancel in between is noticed.
    const watch = await this.cancels.open(call.afterRun ? [] : [call.runId, call.owner], call.signal, { stops: isModel(name) });
    const withState = call.wanted?.withState === true;
    let begun: BeginResult;
    try {
      // The step may have begun although the reply was lost. Until this process knows, every process would find the step busy.
      begun = await retryDuringOutage(() => state.journal.begin({ ...beginning, flags: watch.flags, withState }), this.closing.signal);
    } catch (error) {
      watch.stop();
      throw error;
    }
    if (begun.kind !== 'begun') watch.stop();
    if (begun.kind === 'busy') return begun;
    if (begun.kind === 'published') return { kind: 'busy', retryInMs: nothingLeft };
    if (begun.kind === 'done') return this.replay(call, step, begun.outcome, begun.attempt);
    const { attempt } = begun;
    let ownedAt = from;
    const at = { runId: call.runId, step, attempt };
    let startedAt = 0;
    let arrived = '';
    const retries: Retry[] = [];
    let sent = false;
    let repeated = Promise.resolve();
    let announced: Promise<void> = Promise.resolve();
    let saidToWait: Promise<void> = Promise.resolve();
    let reply: ModelReply | null = null;
    let failure: FailureNote | null = null;
    let cancelled = false;
    let wanted = true;
    let usage: Usage = noUsage;
    try {
      await watch.look(begun.flagged);
      if (watch.parked() && !watch.cancelled()) {
        // No client is waiting for the run: the call is made when one does.
        await retryDuringOutage(() => state.journal.abandon(at, undefined, beginning.nonce), this.closing.signal);
        return { kind: 'busy', retryInMs: parkedRetryMs };
      }
      if (!begun.repeated && attempt > 1) metrics.count('handed_back_calls_total', { purpose: call.purpose });
      startedAt = await state.now();
      wanted = watch.cancelled() || (await this.isWanted(call, begun.state));
      if (watch.cancelled() || !wanted) throw new Failure('CALL_CANCELLED');
      await call.look?.();
      announced = this.shown(() => call.onBegun?.(attempt));
      probe.note({ actor: service, op: 'call', phase: 'invoke', id: step, data: { attempt, model: name } });
      reply = await perform({
        signal: watch.signal,
        waits: (atATime) => void (saidToWait = this.shown(() => call.onWaiting?.(attempt, atATime))),
        making: async () => {
          while (performance.now() - ownedAt > ownedMs) {
            const asked = performance.now();
            const held = await state.journal.begin(beginning);
            if (held.kind !== 'begun' || held.attempt !== attempt) throw new Overtaken();
            ownedAt = asked;
          }
        },
        sent: () => {
          sent = true;
          if (begun.repeated) repeated = this.noteRepeat({ ...at, purpose: call.purpose });
        },
        arrived: (text) => (arrived += text),
        retried: ({ code, afterMs }) => void retries.push({ code, failedMs: elapsed(), waitMs: Math.round(afterMs) }),
      });
      usage = usageOf(reply, call.prices[name]);
    } catch (error) {
      if (error instanceof Overtaken) return { kind: 'busy', retryInMs: 250 };
      cancelled = watch.cancelled() || !wanted;
      const handedBack = call.signal.aborted;
      const stopped = watch.stopped() && !handedBack;
      if (!cancelled && (stopped || handedBack || !(error instanceof Failure) || isOutage(error))) {
        // Not an outcome of the call: the process is stopping, a store is unavailable, or our own code failed. The next owner of the record
        // begins again. A sent request is paid all the same.
        const spent = sent ? priced(spentBy(error, call.request.messages, arrived), call.prices[name]) : noUsage;
        const paid = paidFor(name, spent, startedAt + elapsed());
        await retryDuringOutage(() => state.journal.abandon(at, paid, sent ? undefined : beginning.nonce), this.closing.signal);
        probe.note({ actor: service, op: 'call', phase: 'abandoned', id: step, data: { attempt, sent, closing: handedBack } });
        // Its client may come back: the call is made again when it does.
        if (stopped) return { kind: 'busy', retryInMs: parkedRetryMs };
        throw error;
      }
      reply = null;
      failure = cancelled || !(error instanceof Failure) ? cancelledNote : noteOf(error);
      if (sent) usage = priced(spentBy(error, call.request.messages, arrived), call.prices[name]);
    } finally {
      watch.stop();
    }
    await repeated;
    if (!isModel(name)) usage = noUsage;
    const durationMs = elapsed();
    const taken = reply ? awaitedLater(call.onReply?.(reply, attempt)) : null;
    const said = await this.keep(at, paidFor(name, usage, startedAt + durationMs), () => ({
      reply,
      failure,
      cancelled,
      record: recordOf(
        { step, attempt, purpose: call.purpose, name, request, reply, failure, cancelled, usage, startedAt, durationMs, retries },
        storePrompts,
      ),
    }));
    this.noteEnd(step, reply ? 'ok' : 'fail', { attempt, stored: said.answer });
    if (said.answer === 'refused') return { kind: 'busy', retryInMs: 250 };
    this.crash('reply-ordered', call);
    await reachedDurably(this.parts.probe, state, service, 'after-call', call.owner);
    // Text that the task shows comes before its result.
    await Promise.all([announced, saidToWait, taken]);
    return this.ended(call, said.stored, attempt, false);
  }

  /** Starts to show something of the call; the request does not wait for this. Throws at once what our own code throws synchronously. */
  private shown(show: () => void | Promise<void>): Promise<void> {
    let first = show();
    if (!first) return Promise.resolve();
    const again = async (): Promise<void> => {
      const trial = first ?? show();
      first = undefined;
      await trial;
    };
    return awaitedLater(retryDuringOutage(again, this.closing.signal));
  }

  /** `found` is the state of the run as the journal read it; undefined if the journal did not read it. */
  private async isWanted({ runId, wanted }: JournalledCall, found: unknown): Promise<boolean> {
    if (!wanted) return true;
    if (!wanted.withState || found !== undefined) return wanted.is(found ?? null);
    return wanted.is((await this.parts.state.runs.read(runId))?.state ?? null);
  }

  /** Records the end in the history once the death of a process can no longer undo it; until then the call is in flight. */
  private noteEnd(step: string, phase: 'ok' | 'fail', data: { readonly attempt: number; readonly stored: 'stored' | 'refused' }): void {
    const { state, probe, service, logger } = this.parts;
    if (!probe.records) return;
    state.durable().then(
      () => probe.note({ actor: service, op: 'call', phase, id: step, data }),
      (error: unknown) => logger.warn('The end of a call did not become durable.', { error }),
    );
  }

  /** Runs in parallel with the request, so that only sent requests are counted. Never rejects: a failed count must not lose the reply. */
  private async noteRepeat(repeat: Parameters<StateStore['journal']['noteRepeat']>[0]): Promise<void> {
    const { state, logger } = this.parts;
    await retryDuringOutage(() => state.journal.noteRepeat(repeat), this.closing.signal).catch((error: unknown) =>
      logger.warn('A repeated call could not be counted.', { run: repeat.runId, error }),
    );
  }

  /**
   * Stores the outcome of a call that is paid: retries until the journal has it, however long the store is unavailable. An outcome that can
   * never be stored is dropped.
   */
  private async keep(
    at: JournalCall,
    paid: Paid | undefined,
    outcome: () => StoredCall,
  ): Promise<{ readonly answer: 'stored' | 'refused'; readonly stored: StoredCall }> {
    const { journal } = this.parts.state;
    try {
      const stored = outcome();
      const kept = keptCallOf(stored);
      const recorded = 'reply' in kept ? undefined : recordedAt(stored.record);
      const answer = await retryDuringOutage(() => journal.finish(at, { ok: true, reply: kept }, paid, recorded), this.closing.signal);
      return { answer, stored };
    } catch (error) {
      if (!isOutage(error)) await retryDuringOutage(() => journal.abandon(at, paid), this.closing.signal);
      throw error;
    }
  }

  private replay(call: JournalledCall, step: string, outcome: CallOutcome, attempt: number): CallEnd {
    this.parts.probe.note({ actor: this.parts.service, op: 'call', phase: 'replayed', id: step, data: { attempt } });
    if (outcome.ok) return this.ended(call, wholeCall(outcome.reply as KeptCall), attempt, true);
    // The current code never stores a bare failure, but a journal that contains one can still be read.
    const { failure } = outcome;
    const { purpose } = call;
    const name = call.request.model;
    const bare = { step, attempt, purpose, name, request: null, reply: null, failure, cancelled: false, usage: noUsage, retries: [] };
    const record = recordOf({ ...bare, startedAt: 0, durationMs: 0 }, this.parts.storePrompts);
    return this.ended(call, { reply: null, failure, cancelled: false, record }, attempt, true);
  }

  private ended(call: JournalledCall, stored: StoredCall, attempt: number, replayed: boolean): CallEnd {
    const record = recordEvent(call.runId, this.parts.service, stored.record);
    const { usage } = stored.record;
    if (stored.cancelled) return { kind: 'cancelled', attempt, usage, record };
    if (stored.reply) return { kind: 'reply', reply: stored.reply, attempt, replayed, usage, record };
    return { kind: 'failed', failure: stored.failure!, attempt, usage, record };
  }

  private crash(point: 'before-call' | 'mid-stream' | 'reply-ordered', call: { readonly owner: string }): void {
    this.parts.probe.reached(this.parts.service, point, call.owner);
  }
}
