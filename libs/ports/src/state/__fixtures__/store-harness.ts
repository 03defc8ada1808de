import { randomBytes } from 'node:crypto';
import type { RunStream } from '../../run-stream/run-stream.js';
import type { StoreTtl } from '../limits.js';
import type { StateStore } from '../state.js';

/** One Conclave process on the store. Its id is the one the store was opened with: it owns the deliveries it begins. */
export interface StoreProcess {
  readonly processId: string;
  readonly store: StateStore;
  readonly stream: RunStream;
}

/** A new, empty store as the suites see it. */
export interface StoreUnderTest extends StoreProcess {
  /** A second process on the same store with its own connection and process id. */
  another(): Promise<StoreProcess>;
  /** Advances the store's clock; absent if the clock is real. */
  advance?(ms: number): Promise<void> | void;
  readonly clockIsReal: boolean;
  /** Closes every process and removes the store's data. */
  dispose(): Promise<void>;
}

export interface StoreHarness {
  open(ttl?: Partial<StoreTtl>): Promise<StoreUnderTest>;
}

/** Upper bound of every wait in the suites, in milliseconds. */
export const patienceMs = 5_000;

/** Maximum milliseconds by which `now()` may lag behind the store's clock: the time that a reply took. */
export const clockLagMs = 1_000;

/** Polls a condition until it is true. Throws after `patienceMs`, naming the condition. */
export async function until(what: string, condition: () => Promise<boolean> | boolean, boundMs = patienceMs): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > boundMs) throw new Error(`Waited ${boundMs} ms in vain until ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Lets `ms` pass on the store's clock: advances it if possible, otherwise polls until the time is reached. */
export async function pass(under: StoreUnderTest, ms: number): Promise<void> {
  if (under.advance) return void (await under.advance(ms));
  const target = (await under.store.now()) + ms;
  await until(`the store's clock moved by ${ms} ms`, async () => (await under.store.now()) >= target, ms + patienceMs);
}

/** Collects the payloads of a channel. */
export async function listen(process: StoreProcess, channel: string): Promise<{ readonly heard: string[]; stop(): Promise<void> }> {
  const heard: string[] = [];
  const stop = await process.store.hints.subscribe(channel, (payload) => heard.push(payload));
  return { heard, stop };
}

export const newRunId = (): string => `run_${randomBytes(8).toString('hex')}`;
export const newName = (prefix: string): string => `${prefix}-${randomBytes(6).toString('hex')}`;
