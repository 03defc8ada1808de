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
import type { DeadReason, SealOpener } from './record.js';
import { deadRecord, decodeOrNull, decodeRecord, isForAnother, isRedriven, recordName, type DeadRecord, type RawRecord } from './record.js';
import { backoff } from './retry.js';
import { suspectBlamedMs, suspectsApartMs, type Turn } from './suspect-turns.js';

/** Everything that an attempt depends on. */
export interface AttemptContext {
  readonly subscription: Subscription;
  readonly retry: RetryPolicy;
  readonly ledger: DeliveryLedger;
  readonly blobs: Blobs;
  /** Opens sealed bodies; null if this process has no key for them. */
  readonly seals: SealOpener | null;
  readonly publish: (events: readonly Event[]) => Promise<void>;
  readonly publishDead: (dead: DeadRecord) => Promise<void>;
  readonly hooks: DeliveryHooks;
  readonly clock: Clock;
  /** Milliseconds between two checks of a record whose earlier owners may be dead. */
  readonly suspectWaitMs: number;
  /** Called when an attempt reaches a stage. */
  readonly reached: (item: Item) => void;
}

/** Stages in the order an attempt passes through them. */
export const stages = ['begin', 'decode', 'handle', 'publish', 'bury', 'finish'] as const;
export type Stage = (typeof stages)[number];

/** A record in the pool, with the steps already done, so that none is repeated after an outage. */
export interface Item {
  readonly record: RawRecord;
  /** When this process first began the record, in milliseconds since 1970; null while it is waiting. */
  begunAt: number | null;
  /** Made when a handler asks for its signal, which costs more than most handlers do. */
  abort: AbortController | null;
  /** The consumption is closing and its grace is over. */
  aborted: boolean;
  stage: Stage;
  /** Another process owns the record now: nothing more is recorded for it. */
  lost: boolean;
  /** The ledger lists this process as the record's opener. */
  open: boolean;
  /** Its turn as a suspect. It may have passed to another one while the handler waits. */
  turn: Turn | null;
  /** Settles when the ledger no longer lists this process because the handler of the suspect only waits; null for any other record. */
  unblamed: Promise<void> | null;
  /** The ledger may know the record. False for a fresh record that has not failed. */
  noted: boolean;
  /** The outputs or the dead letter are published; only the ledger update is missing. */
  settled: boolean;
  deadLetterWork: DeadLetterWork | null;
  /** A failure not yet written to the ledger. */
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
  /** To be tried again after this many milliseconds; holds no slot while it waits. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** A suspect without a turn: to be tried again when it has one. */
  | { readonly kind: 'turn' }
  | { readonly kind: 'outage'; readonly error: unknown }
  /** No longer ours, or interrupted because the consumption ended. */
  | { readonly kind: 'handed_back' };

/** Our own log, ledger or blobs failed; the record is not at fault. */
class Outage extends Error {
  constructor(override readonly cause: unknown) {
    super('outage', { cause });
  }
}

/** Makes one attempt at a record. Never rejects. */
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
  item.observed = { type: null, handleMs: 0 };
  item.unblamed = null;
  await release(item, context);
  // Asked before `begin`, which counts: a suspect that waits must not be blamed for the death of the process.
  if (item.noted && !item.turn && isSuspect(await unended(item, context), retry)) return { kind: 'turn' };
  item.begunAt ??= context.clock.now();
  const { attempts, deaths, suspects } = item.noted ? await begin(item, context) : { attempts: 1, deaths: 0, suspects: 0 };
  if (deaths >= retry.processDeaths || attempts > mostAttempts(retry))
    return deadLetter(item, newDeadLetter('killed_process', attempts - 1, null), context);
  if (deaths + suspects >= retry.processDeaths) {
    // One more death would dead-letter the record. Whether its other openers are alive is known once their leases have expired.
    await release(item, context);
    return { kind: 'wait', ms: context.suspectWaitMs };
  }
  if (!item.turn && isSuspect(deaths + suspects, retry)) {
    // Its other openers changed between the question and the begin.
    await release(item, context);
    return { kind: 'turn' };
  }
  try {
    return await handle(item, attempts, context);
  } catch (error) {
    if (error instanceof Outage) throw error;
    if (error instanceof Failure && error.code === 'EVENT_ERASED') return erased(item, attempts, context);
    if (error instanceof Undecodable) return deadLetter(item, newDeadLetter('undecodable', attempts, error.cause), context);
    return failed(item, { attempts, error }, context);
  }
}

/** The run was erased: nothing can be done for it but to remove what an earlier attempt may have left, and the record is not at fault. */
async function erased(item: Item, attempts: number, context: AttemptContext): Promise<DeliveryVerdict> {
  const { headers } = item.record;
  try {
    const outcome = await context.subscription.onErased?.({ type: headers['ce_type'] ?? '', runId: headers['ce_runid'] ?? '' });
    if (outcome === undefined || !isDeferred(outcome)) return await finish(item, context);
    await release(item, context);
    return { kind: 'wait', ms: Math.max(0, outcome.deferMs) };
  } catch (error) {
    if (error instanceof Outage) throw error;
    if (isOutage(error)) throw new Outage(error);
    return failed(item, { attempts, error }, context);
  }
}

/** Whether one more death would dead-letter a record that is not dead-lettered yet. */
const isSuspect = (openers: number, { processDeaths }: RetryPolicy): boolean => openers > 0 && openers === processDeaths - 1;

/**
 * Attempts after which a record is dead-lettered unrun. Failures and deaths alone never reach more. A record whose handlers waited when
 * their processes died does: no death was blamed on it, but one that does kill later than others must not do so forever.
 */
const mostAttempts = ({ attempts, processDeaths }: RetryPolicy): number => attempts + processDeaths - 1;

/**
 * Takes the blame for a death from a suspect whose handler waits. The attempt stays counted. Its turn is passed on, unless so many attempts
 * are behind it that each counts towards its end: then a death of the process counts for it alone, and not for all that wait beside it, as
 * for the slot of a slow model server.
 */
async function unblame(item: Item, attempts: number, context: AttemptContext): Promise<void> {
  await context.ledger.failed(ledgerKey(item, context));
  item.open = false;
  if (attempts < context.retry.attempts) item.turn?.endIn(suspectsApartMs);
}

async function unended(item: Item, context: AttemptContext): Promise<number> {
  return (await own(async () => context.ledger.unended?.(ledgerKey(item, context)))) ?? 0;
}

async function begin(item: Item, context: AttemptContext) {
  // The reply may get lost after the ledger has recorded this process. Then there is something to release, too.
  item.open = true;
  const begun = await own(() => context.ledger.begin(ledgerKey(item, context)));
  item.noted = true;
  return begun;
}

/** Re-driven for another group: finishes the record here without decoding it. */
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
  if (item.lost || item.aborted) return handBack(item, context);
  enter(item, 'handle', context);
  const startedAt = clock.now();
  let outcome: HandlerOutcome;
  // If the ledger does not answer, the blame stays until the record is finished, where the outage shows.
  const wait = (): void => void (item.unblamed = unblame(item, attempts, context).catch(() => undefined));
  const cancel = item.turn && clock.after(suspectBlamedMs, wait);
  try {
    outcome = await subscription.handle({
      event,
      group,
      attempt: attempts,
      appendedAt: item.record.appendedAt,
      redriven: isRedriven(item.record),
      get signal() {
        return signalOf(item);
      },
    });
  } catch (error) {
    throw isOutage(error) ? new Outage(error) : error;
  } finally {
    item.observed.handleMs = clock.now() - startedAt;
    cancel?.();
    await item.unblamed;
  }
  if (isDeferred(outcome)) {
    await release(item, context);
    observe(item, 'deferred', context);
    return { kind: 'wait', ms: Math.max(0, outcome.deferMs) };
  }
  if (!Array.isArray(outcome)) throw new TypeError(`The handler of ${group} returned neither events nor a deferral.`);
  // What follows is done in this process again.
  if (item.unblamed && !item.open && !item.lost) await begin(item, context);
  enter(item, 'publish', context);
  hooks.point?.('before-publish', { group, event });
  await publish(outcome, context);
  subscription.published?.(outcome);
  hooks.point?.('after-publish', { group, event });
  item.settled = true;
  return finish(item, context);
}

function signalOf(item: Item): AbortSignal {
  item.abort ??= new AbortController();
  if (item.aborted) item.abort.abort(closing());
  return item.abort.signal;
}

/** Tells the handler of a record to stop. */
export function abort(item: Item): void {
  item.aborted = true;
  item.abort?.abort(closing());
}

const closing = (): Error => new Error('The consumption is closing.');

async function decode(item: Item, context: AttemptContext): Promise<Event> {
  if (item.record.event) return item.record.event;
  try {
    return await decodeRecord(item.record, context.blobs, context.seals);
  } catch (error) {
    if (isOutage(error)) throw new Outage(error);
    throw error instanceof Failure && error.code === 'EVENT_UNDECODABLE' ? new Undecodable(error) : error;
  }
}

async function failed(item: Item, fault: Fault, context: AttemptContext): Promise<DeliveryVerdict> {
  const { attempts, error } = fault;
  // A handler that was told to stop did not fail, and a lost record belongs to another member.
  if (item.lost || item.aborted) return handBack(item, context);
  const { ledger, retry, clock } = context;
  const asked = error instanceof Failure ? error.options : {};
  if (attempts >= retry.attempts || asked.final) return deadLetter(item, newDeadLetter('failed', attempts, error), context);
  item.fault = fault;
  // A fresh record enters the ledger only here, so that its attempts are counted across restarts.
  if (!item.noted) await begin(item, context);
  await own(() => ledger.failed(ledgerKey(item, context)));
  item.fault = null;
  item.open = false;
  observe(item, 'retry', context, error);
  // A failure may ask for a later attempt, up to the longest wait between two attempts.
  const askedMs = Math.min(retry.maxBackoffMs, asked.retryAfterMs ?? 0);
  return { kind: 'wait', ms: Math.max(askedMs, backoff(retry, attempts, clock.random())) };
}

/**
 * Publishes the dead letter, then the events that replace the record, then finishes it. Retries a letter that cannot be written, so that no
 * record is skipped.
 */
async function deadLetter(item: Item, death: DeadLetterWork, context: AttemptContext): Promise<DeliveryVerdict> {
  const { subscription, blobs, seals, clock, retry } = context;
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
      const event = await own(() => decodeOrNull(item.record, blobs, seals));
      item.observed.type ??= event?.type ?? null;
      await publish((await subscription.onDead(event, death.reason)) ?? [], context);
    } catch (cause) {
      if (cause instanceof Outage || isOutage(cause)) throw cause;
      death.onDeadFailures += 1;
      observe(item, 'retry', context, cause);
      if (death.onDeadFailures < retry.attempts) return { kind: 'wait', ms: backoff(retry, death.onDeadFailures, clock.random()) };
      // The letter is published; a failing `onDead` must not block later records. The observer gets the error.
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

/** Removes this process as the record's opener, so that neither an attempt nor a possible death is counted. */
export async function release(item: Item, context: AttemptContext): Promise<void> {
  if (!item.open) return;
  await own(() => context.ledger.released(ledgerKey(item, context)));
  item.open = false;
}

/** Events that cannot be encoded are the handler's fault; any other error here is the log's. */
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
  const withError = error === undefined || error === null ? seen : { ...seen, error };
  const letter = item.deadLetterWork;
  const dead = letter && { reason: letter.reason, attempts: letter.attempts, runId: item.record.headers['ce_runid'] };
  hooks.handled?.(dead ? { ...withError, dead } : withError);
}

const ledgerKey = (item: Item, { subscription }: AttemptContext) => ({ group: subscription.group, record: recordName(item.record) });

const newDeadLetter = (reason: DeadReason, attempts: number, error: unknown): DeadLetterWork => ({
  reason,
  attempts,
  error,
  letterSent: false,
  onDeadFailures: 0,
});
