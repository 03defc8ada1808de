import type { Event } from '@conclave/contracts';
import type { Blobs } from '../blobs/blobs.js';
import { systemClock, type Clock } from './clock.js';
import { abort, attempt, release, stages, type AttemptContext, type Item, type Stage, type DeliveryVerdict } from './delivery-attempt.js';
import type { ConsumptionLoad, DeliveryHooks, DeliveryLedger, Subscription } from './event-log.js';
import { Lanes } from './lanes.js';
import { OutageGate } from './outage-gate.js';
import { recordName, type DeadRecord, type RawRecord, type SealOpener } from './record.js';
import { defaultRetry } from './retry.js';
import { SuspectTurns, type Turn } from './suspect-turns.js';

export interface DeliveryPoolOptions {
  readonly subscription: Subscription;
  readonly ledger: DeliveryLedger;
  readonly blobs: Blobs;
  /** Opens sealed bodies. Absent or null: this process has no key for them. */
  readonly seals?: SealOpener | null;
  /**
   * Resolves when the outputs are durable. A Failure that is not an outage counts against the handler; any other error pauses the group.
   */
  readonly publish: (events: readonly Event[]) => Promise<void>;
  /** Resolves when the dead letter is durable. */
  readonly publishDead: (dead: DeadRecord) => Promise<void>;
  /** An outage of our own stores began (true) or ended (false): stop or resume offering records. */
  readonly onPause?: (paused: boolean, error: unknown) => void;
  /** Called when there is room again after `hasRoom()` was false. */
  readonly onRoom?: () => void;
  readonly hooks?: DeliveryHooks;
  /**
   * Maximum number of records held, running ones included, if the adapter respects `hasRoom()`; by default that of the subscription.
   */
  readonly maxHeld?: number;
  readonly suspectWaitMs?: number;
  /** Shared by all pools of the process; by default only this pool's suspects take turns. */
  readonly turns?: SuspectTurns;
  /** Milliseconds before the first probe of an outage, and the longest wait between two probes. */
  readonly probe?: { readonly firstMs: number; readonly maxMs: number };
  readonly clock?: Clock;
}

/**
 * Changes the options of every delivery pool of a log: tests use it to record a history and to switch off protections. Absent in
 * production.
 */
export type PoolChange = (options: DeliveryPoolOptions) => DeliveryPoolOptions;

/** A probe that runs this long without hitting the outage has passed, even if its handler is still running. */
const probePatienceMs = 1000;
/** Milliseconds a handler has to react to its abort signal before `drain` abandons it. */
const abortGraceMs = 1000;
const defaultGraceMs = 10_000;

/**
 * The delivery rules, shared by all adapters. An adapter offers records and never waits for work; the pool runs handlers with bounded
 * concurrency, one record per key at a time, retries, defers, dead-letters, and calls `onDone` exactly once for each finished record that
 * is still ours.
 */
export class DeliveryPool {
  private readonly context: AttemptContext;
  private readonly lanes = new Lanes<Item>();
  private readonly gate: OutageGate;
  private readonly running = new Set<Item>();
  /** Records that hit the outage; each waits at the head of its lane. */
  private readonly parked: Item[] = [];
  private readonly timers = new Map<Item, () => void>();
  private readonly onDone = new Map<Item, () => void | Promise<void>>();
  private readonly handedBack: RawRecord[] = [];
  private readonly releases = new Set<Promise<void>>();
  private readonly turns: SuspectTurns;
  private readonly maxHeld: number;
  private wasFull = false;
  private draining: Promise<readonly RawRecord[]> | null = null;
  private idle: (() => void) | null = null;
  private probe: { item: Item; failedAt: Stage; cancelPatience: () => void } | null = null;

  constructor(private readonly options: DeliveryPoolOptions) {
    const {
      subscription,
      ledger,
      blobs,
      seals = null,
      publish,
      publishDead,
      hooks = {},
      clock = systemClock,
      suspectWaitMs = 1000,
    } = options;
    const retry = { ...defaultRetry, ...subscription.retry };
    const reached = (item: Item) => this.probeReached(item);
    this.context = { subscription, retry, ledger, blobs, seals, publish, publishDead, hooks, clock, suspectWaitMs, reached };
    this.turns = options.turns ?? new SuspectTurns(clock);
    this.maxHeld = options.maxHeld ?? subscription.held ?? Math.max(64, subscription.concurrency * 4);
    const turned = (shut: boolean, error: unknown) => {
      hooks.outage?.(subscription.group, shut, error);
      options.onPause?.(shut, error);
      if (!shut) this.resume();
    };
    this.gate = new OutageGate(clock, options.probe ?? { firstMs: 250, maxMs: 5000 }, turned, () => this.sendProbe());
  }

  /**
   * Accepts a record, even when there is no room. `onDone` is called when it is finished; the promise it may return resolves when the new
   * position is durable.
   */
  offer(record: RawRecord, onDone: () => void | Promise<void>): void {
    if (this.draining) return;
    const item: Item = {
      record,
      begunAt: null,
      abort: null,
      aborted: false,
      stage: 'begin',
      lost: false,
      open: false,
      turn: null,
      unblamed: null,
      noted: !record.fresh,
      settled: false,
      deadLetterWork: null,
      fault: null,
      observed: { type: null, handleMs: 0 },
    };
    this.onDone.set(item, onDone);
    this.lanes.add(record.key === null ? `record ${recordName(record)}` : `key ${record.key}`, item);
    if (!this.hasRoom()) this.wasFull = true;
    this.pump();
  }

  hasRoom(): boolean {
    return !this.draining && this.lanes.size < this.maxHeld;
  }

  load(): Omit<ConsumptionLoad, 'pausedPartitions'> {
    let waitingSince: number | undefined;
    for (const { begunAt, record } of this.lanes.items()) {
      if (begunAt === null && record.appendedAt < (waitingSince ?? Infinity)) waitingSince = record.appendedAt;
    }
    return { running: this.running.size, held: this.lanes.size, ...(waitingSince === undefined ? {} : { waitingSince }) };
  }

  /** The outage that pauses the group; null if there is none. */
  paused(): { readonly error: unknown } | null {
    return this.gate.shut ? { error: this.gate.error } : null;
  }

  /**
   * Drops records that another member owns now; nothing is recorded for them. Running handlers continue: their model call is already paid
   * for, and the new owner waits for it at the journal instead of repeating it.
   */
  forget(isLost: (record: RawRecord) => boolean): void {
    for (const item of this.lanes.items()) {
      if (!item.lost && isLost(item.record)) this.lose(item);
    }
    this.pump();
    this.tellRoom();
  }

  /**
   * Stops accepting records, waits for running handlers, aborts the remaining ones after the grace, and returns the unfinished records.
   * Safe to call twice.
   */
  drain(graceMs = this.options.subscription.graceMs ?? defaultGraceMs): Promise<readonly RawRecord[]> {
    this.draining ??= this.drainOnce(graceMs);
    return this.draining;
  }

  private async drainOnce(graceMs: number): Promise<readonly RawRecord[]> {
    this.gate.stop();
    for (const item of this.lanes.items()) {
      if (!this.running.has(item)) this.giveBack(item);
    }
    await this.whenIdle(graceMs);
    for (const item of this.running) abort(item);
    await this.whenIdle(abortGraceMs);
    for (const item of [...this.running]) {
      this.handedBack.push(item.record);
      this.lose(item);
      this.releaseSoon(item);
      this.endTurn(item);
    }
    await this.atMost(abortGraceMs, Promise.allSettled(this.releases));
    return this.handedBack;
  }

  /**
   * Releases the record in the ledger without waiting. If the ledger does not answer, the entry stays until this process's lease ends and
   * then counts as one death, which alone never dead-letters a record.
   */
  private releaseSoon(item: Item): void {
    const released = release(item, this.context).catch((error: unknown) =>
      this.context.hooks.outage?.(this.options.subscription.group, this.gate.shut, error),
    );
    this.releases.add(released);
    void released.finally(() => this.releases.delete(released));
  }

  private lose(item: Item): void {
    item.lost = true;
    this.onDone.delete(item);
    if (!this.running.has(item)) this.discard(item);
  }

  private giveBack(item: Item): void {
    this.handedBack.push(item.record);
    this.discard(item);
  }

  /** Removes an item that is not running from the pool. */
  private discard(item: Item): void {
    this.timers.get(item)?.();
    this.timers.delete(item);
    const parked = this.parked.indexOf(item);
    if (parked >= 0) this.parked.splice(parked, 1);
    this.onDone.delete(item);
    this.lanes.remove(item);
    this.releaseSoon(item);
    this.endTurn(item);
  }

  private pump(): void {
    while (!this.draining && !this.gate.shut && this.running.size < this.options.subscription.concurrency) {
      const lane = this.lanes.take();
      if (!lane) return;
      this.start(lane.head);
    }
  }

  private start(item: Item): void {
    this.running.add(item);
    void attempt(item, this.context).then((verdict) => {
      this.running.delete(item);
      const probed = this.endProbe(item);
      this.apply(item, verdict, probed);
      if (this.running.size === 0) this.idle?.();
      this.pump();
      this.tellRoom();
    });
  }

  private apply(item: Item, verdict: DeliveryVerdict, probed: boolean): void {
    // While the ledger lists the record, as after an outage, a death counts for it: its turn continues.
    if (!item.open) this.endTurn(item);
    const gone = item.lost || verdict.kind === 'handed_back';
    if (verdict.kind === 'outage' && !this.draining) this.gate.trip(verdict.error, probed);
    else if (probed && !this.draining) this.gate.open();
    if (gone || (this.draining && verdict.kind !== 'finished')) {
      if (!item.lost) this.handedBack.push(item.record);
      return this.discard(item);
    }
    switch (verdict.kind) {
      case 'finished':
        return this.complete(item);
      case 'wait':
        return this.wait(item, verdict.ms);
      case 'turn':
        return this.awaitTurn(item);
      case 'outage':
        this.parked.push(item);
    }
  }

  private complete(item: Item): void {
    const onDone = this.onDone.get(item);
    this.onDone.delete(item);
    this.lanes.remove(item);
    const recorded = onDone?.();
    const { hooks, subscription } = this.context;
    const passed = () => hooks.point?.('after-commit', { group: subscription.group, event: null });
    // No promise means the ledger's `done` was the commit.
    if (!recorded) return passed();
    void recorded.then(passed, (error: unknown) => hooks.outage?.(subscription.group, this.gate.shut, error));
  }

  private wait(item: Item, ms: number): void {
    const again = () => {
      this.timers.delete(item);
      this.lanes.ready(item);
      this.pump();
    };
    this.timers.set(item, this.context.clock.after(ms, again));
  }

  /** Holds no slot while it waits, so that other records run meanwhile. */
  private awaitTurn(item: Item): void {
    const turn = this.turns.take();
    if (turn) return this.tryAlone(item, turn);
    this.timers.set(
      item,
      this.turns.wait((granted) => this.tryAlone(item, granted)),
    );
  }

  private tryAlone(item: Item, turn: Turn): void {
    this.timers.delete(item);
    item.turn = turn;
    this.lanes.ready(item);
    this.pump();
  }

  private endTurn(item: Item): void {
    const { turn } = item;
    item.turn = null;
    turn?.end();
  }

  private sendProbe(): void {
    if (this.draining || this.probe) return;
    const item = this.parked.shift();
    // All records that hit the outage now belong to other members: the next record tests whether it is over.
    if (!item) return this.gate.open();
    const cancelPatience = this.context.clock.after(probePatienceMs, () => this.gate.open());
    this.probe = { item, failedAt: item.stage, cancelPatience };
    this.start(item);
  }

  private probeReached(item: Item): void {
    if (this.probe?.item === item && stages.indexOf(item.stage) > stages.indexOf(this.probe.failedAt)) this.gate.open();
  }

  /** Whether the item was the probe and the gate is still waiting for its result. */
  private endProbe(item: Item): boolean {
    if (this.probe?.item !== item) return false;
    this.probe.cancelPatience();
    this.probe = null;
    return this.gate.shut;
  }

  private resume(): void {
    for (const item of this.parked.splice(0)) this.lanes.ready(item);
    this.pump();
  }

  private tellRoom(): void {
    if (!this.wasFull || this.draining || this.lanes.size > this.maxHeld / 2) return;
    this.wasFull = false;
    this.options.onRoom?.();
  }

  private whenIdle(ms: number): Promise<void> {
    if (this.running.size === 0) return Promise.resolve();
    return this.atMost(ms, new Promise<void>((resolve) => (this.idle = resolve)));
  }

  /** Resolves when the work ends or after `ms`, whichever comes first. */
  private atMost(ms: number, work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.context.clock.after(ms, resolve);
      void work.then(() => {
        cancel();
        resolve();
      });
    });
  }
}
