import { setMaxListeners } from 'node:events';
import { Failure } from '@conclave/contracts';
import type { JsonObject } from '@conclave/ports';
import { CallSlots } from './call-slots.js';
import { defaultConcurrency, defaultRetry, type ProviderConfig, type RetrySettings } from './configuration.js';
import { post, readBeside } from './provider-client.js';
import { backOffMs, pause } from './retry.js';
import { contentOf, readWhole } from './small-request.js';
import { faultOf, type FailedAttempt } from './upstream-failure.js';

export interface RequestsConfig {
  /** Name of the provider, for messages. */
  readonly name: string;
  readonly provider: ProviderConfig;
  readonly retry?: Partial<RetrySettings>;
}

/** A request that is not a chat: one JSON body, one JSON reply. */
export interface ProviderRequest<T> {
  readonly path: string;
  readonly body: JsonObject;
  /** What the reply contains, for the message of a timeout. */
  readonly brings: string;
  /** Texts that no message may quote. */
  readonly prompts: readonly string[];
  /** Maximum tries; those of the provider apply if they are fewer or this is absent. */
  readonly attempts?: number;
  /** Throws Failure PROVIDER_REPLY_INVALID. */
  read(answer: unknown): T;
  /** Body for the next try of a request that the server refused; absent or null: it stays refused. */
  instead?(fault: FailedAttempt): JsonObject | null;
  /** The failure of a request that a client wrote itself, with the server's message about it; absent: the failure of the attempt. */
  refused?(fault: FailedAttempt): Failure;
}

const defaultTimeoutMs = 60_000;
const healthMs = 2_000;

/** Requests to a model server that are not chats: within its slots and time limit, repeated where that helps, ended on close. */
export class ProviderRequests {
  private readonly slots: CallSlots;
  private readonly retry: RetrySettings;
  private readonly closing = new AbortController();

  constructor(private readonly config: RequestsConfig) {
    const { provider, retry } = config;
    // Every running request adds a listener and removes it at its end.
    setMaxListeners(Infinity, this.closing.signal);
    this.slots = new CallSlots(provider.max_concurrency ?? defaultConcurrency(provider.local));
    this.retry = { ...defaultRetry, ...retry };
  }

  get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  /**
   * Runs `act` with a signal that also aborts on close. Removes its listeners, because the close signal outlives every call. Throws
   * CALL_CANCELLED when either has aborted before.
   */
  async whileWanted<T>(caller: AbortSignal, act: (wanted: AbortSignal) => Promise<T>): Promise<T> {
    if (caller.aborted || this.isClosed) throw new Failure('CALL_CANCELLED');
    const either = new AbortController();
    const abort = (): void => either.abort();
    const sources = [caller, this.closing.signal];
    for (const source of sources) source.addEventListener('abort', abort);
    try {
      return await act(either.signal);
    } finally {
      for (const source of sources) source.removeEventListener('abort', abort);
    }
  }

  /** Throws CALL_CANCELLED, CALL_TIMEOUT, PROVIDER_* and what `read` throws. */
  async post<T>(request: ProviderRequest<T>, wanted: AbortSignal): Promise<T> {
    const giveBack = await this.slots.take(wanted);
    try {
      let { body } = request;
      const most = Math.min(this.retry.attempts, request.attempts ?? Infinity);
      for (let tries = 1; ; tries += 1) {
        const ended = await this.attempt(request, body, wanted);
        if ('value' in ended) return ended.value;
        if (wanted.aborted) throw new Failure('CALL_CANCELLED');
        const other = request.instead?.(ended) ?? null;
        if (other && tries < this.retry.attempts) {
          body = other;
          continue;
        }
        const waitMs = backOffMs(tries + 1, ended.afterMs, this.retry);
        if (!ended.again || tries >= most || waitMs > this.retry.longest_wait_ms) throw request.refused?.(ended) ?? ended.failure;
        await pause(waitMs, wanted);
      }
    } finally {
      giveBack();
    }
  }

  /** Null while the server answers, otherwise a sentence. */
  async health(): Promise<string | null> {
    try {
      await readBeside(this.config.provider, 'models', AbortSignal.timeout(healthMs));
      return null;
    } catch (error) {
      const fault = this.faultOf(error, []);
      // A server without a model list can still answer.
      return fault.status === 404 || fault.status === 405 || fault.status === 501 ? null : fault.failure.message;
    }
  }

  /** Aborts running requests. */
  close(): void {
    this.closing.abort();
  }

  private async attempt<T>(
    { path, brings, prompts, read }: ProviderRequest<T>,
    body: JsonObject,
    wanted: AbortSignal,
  ): Promise<{ readonly value: T } | FailedAttempt> {
    const { provider, name } = this.config;
    const limit = new AbortController();
    const timeoutMs = provider.timeout_ms ?? defaultTimeoutMs;
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    const stop = (): void => limit.abort();
    wanted.addEventListener('abort', stop, { once: true });
    try {
      const reply = await post(provider, path, body, limit.signal);
      const text = await readWhole(reply.body);
      return { value: read(contentOf(reply.headers, text)) };
    } catch (error) {
      const fault = this.faultOf(error, prompts);
      // Our own timeout is not retried: a hanging server would only get more work.
      return limit.signal.aborted && !wanted.aborted
        ? {
            ...fault,
            failure: new Failure('CALL_TIMEOUT', `Provider ${name} did not return ${brings} within ${timeoutMs} ms.`),
            again: false,
            afterMs: null,
          }
        : fault;
    } finally {
      clearTimeout(timer);
      wanted.removeEventListener('abort', stop);
    }
  }

  private faultOf(error: unknown, prompts: readonly string[]): FailedAttempt {
    return faultOf(error, this.config.name, false, { prompts, key: this.config.provider.api_key }, Date.now());
  }
}
