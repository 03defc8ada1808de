import { defaultRetentionDays } from '@conclave/contracts';

/**
 * A process lease expires this many milliseconds after its last renewal: a dead process's calls are free by the time the broker reassigns
 * its records.
 */
export const leaseTtlMs = 6_000;
/** Interval at which a process renews its lease, in milliseconds: one renewal may be lost and another be late. */
export const leaseRenewMs = 2_000;
/** Flag of a run without a waiting client: no new call is begun for it. */
export const parkedFlag = (runId: string): string => `${runId}/parked`;
/** Payload of a hint `cancel` that ends the model calls of a parked run. */
export const stopHint = (runId: string): string => `${runId}/stop`;
/** Owner of the clients that have left and may come back: an id that no process has. */
export const awayOwner = '-';
/** Upper bound of `retryInMs` of a `busy` journal: the owner may finish long before its lease would expire. */
export const busyRetryMs = 1_000;
/** Times a step is computed before `Runs.commit` throws COMMIT_CONFLICT. */
export const commitAttempts = 50;
/** Status word of an accepted run that has no state yet. */
export const acceptedStatus = 'accepted';
/** Status of an erased run. */
export const erasedStatus = 'erased';
/** Maximum bytes of a cached value's JSON text. */
export const cacheValueBytes = 256 * 1024;
/** Number of versions kept per setting, the current one included. */
export const settingVersions = 20;

const HOUR = 60 * 60 * 1000;

/** How long a store keeps finished data, in milliseconds. Data of an open run does not expire. */
export interface StoreTtl {
  /**
   * Applied ids, journal, cancel flags and delivery counts from their last use, and a run from its terminal step.
   * At least the longest retention of run topics and dead letters.
   */
  readonly retentionMs: number;
  /** Run stream, from its terminal entry. */
  readonly streamMs: number;
  /** Retry mapping, from the acceptance. */
  readonly retryKeyMs: number;
}

/** By default, as long as the log keeps its records. */
export const defaultTtl: StoreTtl = { retentionMs: defaultRetentionDays * 24 * HOUR, streamMs: HOUR, retryKeyMs: 24 * HOUR };
