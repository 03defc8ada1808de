import { Failure, isOutage, type Event } from '@conclave/contracts';
import type { Blobs } from '../blobs/blobs.js';
import type { Clock } from './clock.js';
import {
  isDeferred,
  type DeliveryHooks,
  type DeliveryLedger,
  type DeliveryObservation,
  type HandlerOutcome,
  type RetryPolicy,
  type Subscription,
} from './event-log.js';
import type { DeadReason } from './record.js';
import { deadRecord, decodeOrNull, decodeRecord, isForAnother, recordName, type DeadRecord, type RawRecord } from './record.js';
import { backoff } from './retry.js';

/** What an attempt needs from outside. */
export interface AttemptContext {
  readonly subscription: Subscription;
  readonly retry: RetryPolicy;
  readonly ledger: DeliveryLedger;
  readonly blobs: Blobs;
  readonly publish: (events: readonly Event[]) => Promise<void>;
  readonly publishDead: (dead: DeadRecord) => Promise<void>;
  readonly hooks: DeliveryHooks;
  readonly clock: Clock;
  /** Milliseconds between two looks at a record whose earlier owners may be dead. */
  readonly suspectWaitMs: number;
  /** Called when an attempt reaches a stage. */
  readonly reached: (item: Item) => void;
}

/** Stages in the order an attempt passes them. */
export const stages = ['begin', 'decode', 'handle', 'publish', 'bury', 'finish'] as const;
export type Stage = (typeof stages)[number];

/** A record in the pool, with what is already done about it, so that nothing is done twice after an outage. */
export interface Item {
  readonly record: RawRecord;
  /** When this process began it for the first time, in milliseconds since 1970; null while it only waits. */
  begunAt: number | null;
  abort: AbortController;
  stage: Stage;
  /** Somebody else owns the record now: nothing is recorded for it any more. */
  lost: boolean;
  /** This process stands in the ledger as its opener. */
  open: boolean;
  /** The ledger may know of it: not of a fresh record that has not failed. */
  noted: boolean;
  /** Outputs or dead letter are out; only the ledger has to hear of it. */
  settled: boolean;
  deadLetterWork: DeadLetterWork | null;
  /** Failed, which the ledger has not heard yet. */
  fault: Fault | null;
  observed: { type: string | null; handleMs: number };
}
interface Fault {
  readonly attempts: number;
  readonly error: unknown;
}
interface DeadLetterWork {
  readonly reason: DeadReason;
  readonly attempts: number;
  readonly error: unknown;
  letterSent: boolean;
  onDeadFailures: number;
}

export type DeliveryVerdict =
  | { readonly kind: 'finished' }
  /** To be tried again after the time, without a slot. */
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'outage'; readonly error: unknown }
  /** Not ours any more, or interrupted by the end of the consumption. */
  | { readonly kind: 'handed_back' };

/** Our own log, ledger or blobs did not do their part: no fault of the record. */
class Outage extends Error {
  constructor(override readonly cause: unknown) {
    super('outage', { cause });
  }
}

/** Brings a record one attempt further. Never rejects. */
export async function attempt(item: Item, context: AttemptContext): Promise<DeliveryVerdict> {
  try {
    if (item.settled) return await finish(item, context);
    if (item.deadLetterWork) return await deadLetter(item, item.deadLetterWork, context);
    if (item.fault) return await failed(item, item.fault, context);
    if (isForAnother(item.record, context.subscription.group)) return await passOver(item, context);
    return await deliver(item, context);
  } catch (error) {
    return { kind: 'outage', error: error instanceof Outage ? error.cause : error };
  }
}

async function deliver(item: Item, context: AttemptContext): Promise<DeliveryVerdict> {
  const { retry } = context;
  enter(item, 'begin', context);
  item.begunAt ??= context.clock.now();
  item.observed = { type: null, handleMs: 0 };
  await release(item, context);
  const { attempts, deaths, suspects } = item.noted ? await begin(item, context) : { attempts: 1, deaths: 0, suspects: 0 };
  if (deaths >= retry.processDeaths) return deadLetter(item, newDeadLetter('killed_process', attempts - 1, null), context);
  if (deaths + suspects >= retry.processDeaths) {
    // One more death would be the last one. Whether its other openers live is known when their leases have run out.
    await release(item, context);
    return { kind: 'wait', ms: context.suspectWaitMs };
  }
  try {
    return await handle(item, attempts, context);
  } catch (error) {
    if (error instanceof Outage) throw error;
    if (error instanceof Undecodable) return deadLetter(item, newDeadLetter('undecodable', attempts, error.cause), context);
    return failed(item, { attempts, error }, context);
  }
}

async function begin(item: Item, context: AttemptContext) {
  const begun = await own(() => context.ledger.begin(ledgerKey(item, context)));
  item.open = true;
  item.noted = true;
  return begun;
}

/** Re-driven for another group: finished here without a look at it. */
async function passOver(item: Item, context: AttemptContext): Promise<DeliveryVerdict> {
  enter(item, 'finish', context);
  if (item.noted) await own(() => context.ledger.done(ledgerKey(item, context)));
  return { kind: 'finished' };
}

class Undecodable extends Error {
  constructor(override readonly cause: unknown) {
    super('undecodable', { cause });
  }
}

async function handle(item: Item, attempts: number, context: AttemptContext): Promise<DeliveryVerdict> {
  const { subscription, hooks, clock } = context;
  const { group } = subscription;
  enter(item, 'decode', context);
  const event = await decode(item, context);
  item.observed.type = event.type;
  hooks.point?.('after-poll', { group, event });
  if (item.lost || item.abort.signal.aborted) return handBack(item, context);
  enter(item, 'handle', context);
  const startedAt = clock.now();
  let outcome: HandlerOutcome;
  try {
    outcome = await subscription.handle({ event, group, attempt: attempts, appendedAt: item.record.appendedAt, signal: item.abort.signal });
  } catch (error) {
    throw isOutage(error) ? new Outage(error) : error;
  } finally {
    item.observed.handleMs = clock.now() - startedAt;
  }
  if (isDeferred(outcome)) {
    await release(item, context);
    observe(item, 'deferred', context);
    return { kind: 'wait', ms: Math.max(0, outcome.deferMs) };
  }
  if (!Array.isArray(outcome)) throw new TypeError(`The handler of ${group} returned neither events nor a deferral.`);
  enter(item, 'publish', context);
  hooks.point?.('before-publish', { group, event });
  await publish(outcome, context);
  hooks.point?.('after-publish', { group, event });
  item.settled = true;
  return finish(item, context);
}

async function decode(item: Item, context: AttemptContext): Promise<Event> {
  if (item.record.event) return item.record.event;
  try {
    return await decodeRecord(item.record, context.blobs);
  } catch (error) {
    if (isOutage(error)) throw new Outage(error);
    throw error instanceof Failure && error.code === 'EVENT_UNDECODABLE' ? new Undecodable(error) : error;
  }
}

async function failed(item: Item, fault: Fault, context: AttemptContext): Promise<DeliveryVerdict> {
  const { attempts, error } = fault;
  // A handler that was told to stop did not fail, and what another member owns is not ours to judge.
  if (item.lost || item.abort.signal.aborted) return handBack(item, context);
  const { ledger, retry, clock } = context;
  if (attempts >= retry.attempts) return deadLetter(item, newDeadLetter('failed', attempts, error), context);
  item.fault = fault;
  // Of a fresh record the ledger hears now, so that its attempts are counted over restarts.
  if (!item.noted) await begin(item, context);
  await own(() => ledger.failed(ledgerKey(item, context)));
  item.fault = null;
  item.open = false;
  observe(item, 'retry', context, error);
  return { kind: 'wait', ms: backoff(retry, attempts, clock.random()) };
}

/** Dead letter, then the events that stand for the record, then done. A letter that cannot be written is tried again: nothing is skipped. */
async function deadLetter(item: Item, death: DeadLetterWork, context: AttemptContext): Promise<DeliveryVerdict> {
  const { subscription, blobs, clock, retry } = context;
  item.deadLetterWork = death;
  enter(item, 'bury', context);
  if (!death.letterSent) {
    const letter = deadRecord(item.record, {
      group: subscription.group,
      reason: death.reason,
      attempts: death.attempts,
      time: clock.now(),
      error: death.error,
    });
    await own(() => context.publishDead(letter));
    death.letterSent = true;
  }
  let error = death.error;
  if (subscription.onDead) {
    try {
      const event = await own(() => decodeOrNull(item.record, blobs));
      await publish((await subscription.onDead(event, death.reason)) ?? [], context);
    } catch (cause) {
      if (cause instanceof Outage || isOutage(cause)) throw cause;
      death.onDeadFailures += 1;
      observe(item, 'retry', context, cause);
      if (death.onDeadFailures < retry.attempts) return { kind: 'wait', ms: backoff(retry, death.onDeadFailures, clock.random()) };
      // The letter is out; an `onDead` that never works must not block what comes behind it. The observer is told.
      error = cause;
    }
  }
  item.settled = true;
  return finish(item, context, error);
}

async function finish(item: Item, context: AttemptContext, error?: unknown): Promise<DeliveryVerdict> {
  enter(item, 'finish', context);
  if (item.lost) return handBack(item, context);
  if (item.noted) await own(() => context.ledger.done(ledgerKey(item, context)));
  item.open = false;
  observe(item, item.deadLetterWork ? 'dead' : 'done', context, error ?? item.deadLetterWork?.error);
  return { kind: 'finished' };
}

async function handBack(item: Item, context: AttemptContext): Promise<DeliveryVerdict> {
  await release(item, context);
  return { kind: 'handed_back' };
}

/** Takes back that this process opened the record: neither an attempt nor a possible death stays behind. */
export async function release(item: Item, context: AttemptContext): Promise<void> {
  if (!item.open) return;
  await own(() => context.ledger.released(ledgerKey(item, context)));
  item.open = false;
}

/** Events that cannot be written down are the handler's fault; anything else that goes wrong here is the log's. */
async function publish(events: readonly Event[], context: AttemptContext): Promise<void> {
  if (events.length === 0) return;
  try {
    await context.publish(events);
  } catch (error) {
    throw error instanceof Failure && !isOutage(error) ? error : new Outage(error);
  }
}

async function own<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Outage(error);
  }
}

function enter(item: Item, stage: Stage, context: AttemptContext): void {
  item.stage = stage;
  context.reached(item);
}

function observe(item: Item, outcome: DeliveryObservation['outcome'], { hooks, subscription }: AttemptContext, error?: unknown): void {
  const { type, handleMs } = item.observed;
  const queueMs = Math.max(0, (item.begunAt ?? item.record.appendedAt) - item.record.appendedAt);
  const seen: DeliveryObservation = { group: subscription.group, topic: item.record.topic, type, outcome, queueMs, handleMs };
  hooks.handled?.(error === undefined || error === null ? seen : { ...seen, error });
}

const ledgerKey = (item: Item, { subscription }: AttemptContext) => ({ group: subscription.group, record: recordName(item.record) });

const newDeadLetter = (reason: DeadReason, attempts: number, error: unknown): DeadLetterWork => ({
  reason,
  attempts,
  error,
  letterSent: false,
  onDeadFailures: 0,
});
