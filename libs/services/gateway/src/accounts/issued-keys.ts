import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Failure, type KeyLimits } from '@conclave/contracts';
import { STATE, type StateStore } from '@conclave/ports';
import type { Response } from 'express';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type ApiKeys, type GatewayLimits, type GatewayOptions, type KeyOwner } from '../options.js';
import { hashOfKey, issuedPrefix } from './key-value.js';
import { KnownAccounts } from './known-accounts.js';

/** Milliseconds for which this process trusts what it has read: a change applies everywhere within twice this time. */
const freshMs = 1_000;
/** Most milliseconds between reads while no requests arrive, so that keys are known when an outage begins, however long they were not used. */
const idleMs = 30_000;

/**
 * Issued API keys as this process knows them. They are read from the settings when a request sends one, at most once a second. While the store is
 * away, known keys stay valid for `keysWithoutStoreMs`. Open responses are cut when their key is no longer valid.
 */
@Injectable()
export class IssuedKeys implements ApiKeys, OnApplicationShutdown {
  private readonly known: KnownAccounts;
  private readAt = -Infinity;
  private reading: Promise<void> | null = null;
  /** Open responses by the hash of the key that requested them. */
  private readonly open = new Map<string, Set<Response>>();
  private cutting: NodeJS.Timeout | undefined;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'logger'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: Pick<GatewayLimits, 'keysWithoutStoreMs'>,
    @Inject(STATE) state: Pick<StateStore, 'settings'>,
  ) {
    this.known = new KnownAccounts(state.settings, options.logger);
  }

  /** Null for a value that is not an issued key or no longer a valid one. Throws STORE_UNAVAILABLE for a value that cannot be looked up. */
  async identify(value: string | null): Promise<KeyOwner | null> {
    return value?.startsWith(issuedPrefix) ? this.identifyHash(hashOfKey(value)) : null;
  }

  /** Whether this is the hash of a value that was ever issued, as far as this process knows. */
  has(hash: string): boolean {
    return this.known.has(hash);
  }

  async identifyHash(hash: string): Promise<KeyOwner | null> {
    if (this.known.has(hash)) await this.refreshed();
    // An unknown key may have been issued a moment ago, perhaps by another gateway, so it is looked up immediately.
    else await this.readAnew();
    return this.known.owner(hash, Date.now());
  }

  /**
   * The limits of all keys of a tenant together, for keys that are not issued. Waits only for the first read; from then on, a change applies as
   * soon as that of an issued key.
   */
  async tenantLimits(tenant: string): Promise<KeyLimits | undefined> {
    const reading = this.refreshed().catch((error: unknown) =>
      this.options.logger.warn('limits of tenants cannot be looked up', { error }),
    );
    if (!this.known.wasRead) await reading;
    return this.known.limitsOf(tenant);
  }

  /** Cuts this response when the key with this hash becomes invalid before the response ends. */
  watch(hash: string, response: Response): void {
    const open = this.open.get(hash) ?? new Set();
    if (open.has(response) || response.closed) return;
    this.open.set(hash, open.add(response));
    response.once('close', () => {
      open.delete(response);
      if (open.size === 0) this.open.delete(hash);
      if (this.open.size === 0) this.cutting = void clearInterval(this.cutting);
    });
    this.cutting ??= setInterval(() => void this.cutInvalid(), freshMs).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.cutting);
    clearInterval(this.idle);
  }

  private async cutInvalid(): Promise<void> {
    // Without the store, known keys stay valid for the configured time.
    await this.refreshed().catch((error: unknown) => this.options.logger.warn('issued keys cannot be looked up', { error }));
    for (const [hash, responses] of this.open) {
      if (!this.isTooOld() && this.known.owner(hash, Date.now())) continue;
      this.options.logger.info('open requests of a key that is no longer accepted are cut', { requests: responses.size });
      for (const response of responses) response.destroy();
    }
  }

  /** Reads what has changed, unless the last read is recent. Throws STORE_UNAVAILABLE once the last read is too old. */
  private async refreshed(): Promise<void> {
    if (performance.now() - this.readAt < freshMs) return;
    try {
      await this.read();
    } catch (error) {
      if (this.isTooOld()) throw unavailable(error);
    }
  }

  /** Returns after a read that began after this call. Throws STORE_UNAVAILABLE. */
  private async readAnew(): Promise<void> {
    await this.reading?.catch(() => undefined); // decided: this read began too early; the next one shows whether the store answers
    try {
      await this.read();
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** At most one read at a time. */
  private read(): Promise<void> {
    this.reading ??= this.readNow().finally(() => (this.reading = null));
    return this.reading;
  }

  private async readNow(): Promise<void> {
    const began = performance.now();
    await this.known.read();
    this.readAt = began;
    if (this.known.size === 0) return;
    const everyMs = Math.max(freshMs, Math.min(idleMs, this.limits.keysWithoutStoreMs / 2));
    this.idle ??= setInterval(() => void this.refreshed().catch(() => undefined), everyMs).unref(); // decided: the next request with a key reports it
  }

  private isTooOld(): boolean {
    return performance.now() - this.readAt >= this.limits.keysWithoutStoreMs;
  }
}

const unavailable = (cause: unknown): Failure => new Failure('STORE_UNAVAILABLE', 'API keys cannot be looked up.', { cause });
