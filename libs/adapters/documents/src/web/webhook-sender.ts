import { Failure } from '@conclave/contracts';
import { waitAskedFor, type WebhookSender } from '@conclave/ports';
import { AllowedHosts, webAddress, type WebAddress } from './addresses.js';
import type { Resolve } from './checked-lookup.js';
import { answerOf } from './checked-request.js';

export interface WebhookSenderOptions {
  /** Hosts of the addresses that the operator configured: they may be private. */
  readonly operatorHosts?: readonly string[];
  /** Hosts whose addresses a client may send, private ones too; `*` means every host of the public web, over https. */
  readonly clientHosts?: readonly string[];
  /** Time until the receiver has answered, milliseconds. */
  readonly timeoutMs?: number;
  /** How names become addresses; the system's way by default. */
  readonly resolve?: Resolve;
}

/** Longest part of an address that a client may send; it is stored in the record of the run. */
const longestUrl = 2_048;

/** Posts webhooks over HTTP. Throws CONFIGURATION_INVALID for an entry of the lists that is not a host. */
export function openWebhookSender({
  operatorHosts = [],
  clientHosts = [],
  timeoutMs = 10_000,
  resolve,
}: WebhookSenderOptions = {}): WebhookSender {
  const ofOperator = new AllowedHosts(operatorHosts, 'webhooks');
  const ofClients = new AllowedHosts(
    clientHosts.filter((host) => host !== '*'),
    'webhook_delivery.client_hosts',
  );
  const takesAll = clientHosts.includes('*');
  const addressFor = (url: string, by: 'operator' | 'client'): WebAddress => {
    if (by === 'operator') return asWebhook(() => webAddress(url, ofOperator));
    if (url.length > longestUrl) throw new Failure('WEBHOOK_REFUSED', `It is longer than ${longestUrl} characters.`);
    const address = asWebhook(() => webAddress(url, ofClients));
    if (address.allowed) return address;
    if (!takesAll) throw new Failure('WEBHOOK_REFUSED', `The operator does not allow the host ${address.url.host}.`);
    if (address.url.protocol !== 'https:') throw new Failure('WEBHOOK_REFUSED', 'Addresses of this host must be https.');
    return address;
  };
  return {
    check: (url) => void addressFor(url, 'client'),
    async post({ url, by, headers, body, signal }) {
      const address = addressFor(url, by);
      const { host } = address.url;
      const over = AbortSignal.timeout(timeoutMs);
      try {
        const sent = { 'user-agent': 'conclave', 'content-type': 'application/json', ...headers };
        const response = await answerOf(address, {
          ...{ method: 'POST' as const, headers: sent, body, resolve },
          signal: AbortSignal.any([signal, over]),
        });
        // Only the status is needed, and the body may be endless.
        response.destroy();
        const status = response.statusCode ?? 0;
        if (status >= 300 && status < 400)
          throw new Failure('WEBHOOK_FAILED', `${host} answers with a redirect (status ${status}), which is not followed.`);
        if (status < 200 || status > 299) {
          const retryAfterMs = waitAskedFor(response.headers['retry-after'], Date.now());
          throw new Failure('WEBHOOK_FAILED', `${host} answers with status ${status}.`, retryAfterMs === null ? {} : { retryAfterMs });
        }
      } catch (error) {
        if (signal.aborted) throw new Failure('CALL_CANCELLED');
        if (over.aborted) throw new Failure('WEBHOOK_FAILED', `${host} did not answer within ${timeoutMs} ms.`);
        if (error instanceof Failure) throw webhookFailure(error);
        throw new Failure('WEBHOOK_FAILED', `${host} cannot be reached${reasonOf(error)}.`);
      }
    },
  };
}

/** Runs a check of page addresses; its failures get the codes of webhooks. */
function asWebhook<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof Failure ? webhookFailure(error) : error;
  }
}

const webhookFailure = (failure: Failure): Failure =>
  failure.code === 'PAGE_REFUSED'
    ? new Failure('WEBHOOK_REFUSED', failure.detail)
    : failure.code === 'PAGE_UNAVAILABLE'
      ? new Failure('WEBHOOK_FAILED', failure.detail)
      : failure;

/** The code of a socket's error; its text may quote the address. */
function reasonOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : '';
}
