import { Failure } from '@conclave/contracts';
import { cacheValueBytes } from './limits.js';

/** A cached value that has not expired. */
export interface CacheEntry {
  readonly value: unknown;
  /** Without duplicates, in code unit order. */
  readonly tags: readonly string[];
  /** Milliseconds since 1970 by the store's clock. */
  readonly writtenAt: number;
  readonly expiresAt: number;
}

export interface CacheWrite {
  readonly tenant: string;
  readonly key: string;
  /** JSON; `undefined` is stored as null. At most `cacheValueBytes` bytes of text. */
  readonly value: unknown;
  /** Above 0; rounded up to whole milliseconds. */
  readonly ttlMs: number;
  /** Tags by which the entry can be removed, such as the run it came from. */
  readonly tags: readonly string[];
}

export interface CacheClaim {
  readonly tenant: string;
  readonly key: string;
  /** Different for every attempt, not just every process: a second attempt of the same process is another owner. */
  readonly owner: string;
  /** The claim expires after this many milliseconds; the same owner renews it by claiming again. */
  readonly ttlMs: number;
}

/**
 * Values of a tenant that may be dropped at any time. Any string is a valid tenant, key, tag or owner, and different strings never collide.
 * Also throws CACHE_VALUE_TOO_LARGE.
 */
export interface Caches {
  /** Null if there is none or it has expired. */
  read(tenant: string, key: string): Promise<CacheEntry | null>;
  /** The last write wins, tags included. Returns false and changes nothing while one of the tags is banned. */
  write(entry: CacheWrite): Promise<boolean>;
  remove(tenant: string, key: string): Promise<void>;
  /**
   * Removes every entry with the tag and returns how many there were. For `bannedMs` from now (default 0; an earlier, longer ban stays)
   * entries with the tag are refused, so that neither a write in flight nor a redelivered event restores one.
   */
  removeTagged(tenant: string, tag: string, bannedMs?: number): Promise<number>;
  /**
   * Single flight: one owner at a time may compute the value of a key. A caller that gets `taken` reads again later, or claims again.
   * Claims are advisory, and reading or writing the entry does not end one.
   */
  claim(claim: CacheClaim): Promise<'mine' | 'taken'>;
  /** Does nothing if another owner holds the claim. */
  release(claim: Omit<CacheClaim, 'ttlMs'>): Promise<void>;
}

/** What an adapter stores of a write. Throws Failure CACHE_VALUE_TOO_LARGE. */
export function storedEntry({ value, ttlMs, tags }: Pick<CacheWrite, 'value' | 'ttlMs' | 'tags'>): {
  readonly text: string;
  readonly ttlMs: number;
  readonly tags: readonly string[];
} {
  const text = JSON.stringify(value) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes > cacheValueBytes)
    throw new Failure('CACHE_VALUE_TOO_LARGE', `It has ${bytes} bytes; the limit is ${cacheValueBytes}.`, { context: { bytes } });
  return { text, ttlMs: wholeMs(ttlMs), tags: [...new Set(tags)].sort() };
}

/** Rounds a time to live up to whole milliseconds. Throws RangeError unless it is above 0. */
export function wholeMs(ms: number): number {
  if (!(ms > 0 && ms <= Number.MAX_SAFE_INTEGER / 2)) throw new RangeError(`${ms} is not a valid time to live in milliseconds.`);
  return Math.ceil(ms);
}
