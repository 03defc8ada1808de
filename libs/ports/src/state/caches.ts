import { Failure } from '@conclave/contracts';
import { cacheValueBytes } from './limits.js';

/** A cached value that has not expired. */
export interface CacheEntry {
  readonly value: unknown;
  /** Each once, in the order of their code units. */
  readonly tags: readonly string[];
  /** Milliseconds since 1970 by the store's clock. */
  readonly writtenAt: number;
  readonly expiresAt: number;
}

export interface CacheWrite {
  readonly tenant: string;
  readonly key: string;
  /** JSON; `undefined` is kept as null. Its text has at most `cacheValueBytes` bytes. */
  readonly value: unknown;
  /** Above 0; a part of a millisecond counts as a whole one. */
  readonly ttlMs: number;
  /** What the entry can be found by when it has to go, such as the run it came from. */
  readonly tags: readonly string[];
}

export interface CacheClaim {
  readonly tenant: string;
  readonly key: string;
  /** Different for every attempt, not for every process: a second attempt of the same process is somebody else. */
  readonly owner: string;
  /** The claim is over after this many milliseconds; the same owner renews it by claiming again. */
  readonly ttlMs: number;
}

/**
 * Values that may be forgotten at any time, each of one tenant. Any string is a valid tenant, key, tag or owner, and two different
 * ones are never taken for one another. Besides what every store throws: CACHE_VALUE_TOO_LARGE.
 */
export interface Caches {
  /** Null when there is none or it has expired. */
  read(tenant: string, key: string): Promise<CacheEntry | null>;
  /** The last write wins, tags included. False (nothing written, what was there stays) while one of the tags is banned. */
  write(entry: CacheWrite): Promise<boolean>;
  remove(tenant: string, key: string): Promise<void>;
  /**
   * Removes every entry that carries the tag and gives how many there were: whatever was written before is gone. For `bannedMs`
   * from now (default 0; an earlier, longer ban stays) entries with the tag are refused, so that a write that was on its way, or
   * that a redelivered event makes again, brings nothing back.
   */
  removeTagged(tenant: string, tag: string, bannedMs?: number): Promise<number>;
  /**
   * Single flight: one owner at a time may compute the value of a key. Whoever is told `taken` reads again later, or claims again.
   * A claim binds nobody who does not ask, and reading or writing the entry does not end it.
   */
  claim(claim: CacheClaim): Promise<'mine' | 'taken'>;
  /** Nothing happens when somebody else has it. */
  release(claim: Omit<CacheClaim, 'ttlMs'>): Promise<void>;
}

/** What an adapter keeps of a write. Throws Failure CACHE_VALUE_TOO_LARGE. */
export function storedEntry({ value, ttlMs, tags }: Pick<CacheWrite, 'value' | 'ttlMs' | 'tags'>): {
  readonly text: string;
  readonly ttlMs: number;
  readonly tags: readonly string[];
} {
  const text = JSON.stringify(value) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes > cacheValueBytes)
    throw new Failure('CACHE_VALUE_TOO_LARGE', `It has ${bytes} bytes, ${cacheValueBytes} are allowed.`, { context: { bytes } });
  return { text, ttlMs: wholeMs(ttlMs), tags: [...new Set(tags)].sort() };
}

/** A time to live as the stores take it: whole milliseconds, at least one. Throws RangeError for what is no time above 0. */
export function wholeMs(ms: number): number {
  if (!(ms > 0 && ms <= Number.MAX_SAFE_INTEGER / 2)) throw new RangeError(`${ms} is no time to live in milliseconds.`);
  return Math.ceil(ms);
}
