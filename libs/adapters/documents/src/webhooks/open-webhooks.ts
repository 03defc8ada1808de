import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@conclave/contracts';
import type { Posting, Webhooks } from '@conclave/ports';
import { AllowedHosts, webAddress, type WebAddress } from '../web/addresses.js';
import type { Resolve } from '../web/checked-lookup.js';
import { requested } from '../web/requested.js';
import { webhookRequest, type Webhook } from './webhook-request.js';

export type ConfiguredWebhook = Webhook & {
  /** Its host may lie in a private network, and be asked without TLS. */
  readonly allowPrivate: boolean;
  /** Milliseconds of one attempt. */
  readonly timeoutMs: number;
  readonly attempts: number;
};

export interface WebhooksOptions {
  readonly webhooks: Readonly<Record<string, ConfiguredWebhook>>;
  /** How names become addresses; the system's way unless told. */
  readonly resolve?: Resolve;
  /** Milliseconds before the second attempt; each later one waits four times as long. */
  readonly againAfterMs?: number;
}

/** Longest wait that a receiver may ask for, in milliseconds. */
const longestWaitMs = 30_000;

/** How one attempt ended. `again`: whether another one may be made, and after how many milliseconds at least. */
type Attempt = { readonly ok: true } | { readonly ok: false; readonly failure: Failure; readonly again: number | null };

/** Sends results over HTTP, to addresses that the rules for web pages allow. Redirects are not followed: a signature is for one receiver. */
export function openWebhooks({ webhooks, resolve, againAfterMs = 1_000 }: WebhooksOptions): Webhooks {
  const closing = new AbortController();

  /** Throws WEBHOOK_REFUSED; the address is a secret of some presets and is not named. */
  function addressOf(text: string, allowPrivate: boolean): WebAddress {
    const url = URL.canParse(text) ? new URL(text) : null;
    const port = url?.port || (url?.protocol === 'https:' ? '443' : '80');
    try {
      if (!allowPrivate && url?.protocol !== 'https:') throw new Failure('WEBHOOK_REFUSED', 'Its address does not begin with https.');
      return webAddress(text, new AllowedHosts(allowPrivate && url ? [`${url.hostname}:${port}`] : []));
    } catch (error) {
      throw refusal(error);
    }
  }

  async function attempt(webhook: ConfiguredWebhook, { id, result, signal }: Posting): Promise<Attempt> {
    const { url, headers, body } = webhookRequest(webhook, id, result, Date.now());
    const address = addressOf(url, webhook.allowPrivate);
    const over = AbortSignal.timeout(webhook.timeoutMs);
    let mayBeSeen = false;
    try {
      const any = AbortSignal.any([signal, closing.signal, over]);
      const response = await requested(address, { method: 'POST', headers, body, resolve, signal: any, onSent: () => (mayBeSeen = true) });
      const status = response.statusCode ?? 0;
      response.destroy();
      if (status >= 200 && status < 300) return { ok: true };
      const failure = new Failure(isPassing(status) ? 'WEBHOOK_UNAVAILABLE' : 'WEBHOOK_REFUSED', `It answers with status ${status}.`);
      return { ok: false, failure, again: isPassing(status) ? waitOf(response.headers['retry-after']) : null };
    } catch (error) {
      if (signal.aborted) throw new Failure('CALL_CANCELLED');
      if (closing.signal.aborted) throw new Failure('SHUTTING_DOWN');
      if (error instanceof Failure && error.code === 'PAGE_REFUSED') return { ok: false, failure: refusal(error), again: null };
      const detail = over.aborted ? `It did not answer within ${webhook.timeoutMs} ms.` : 'It cannot be reached.';
      // A receiver that does not know ids might show a message twice.
      const isSafe = !mayBeSeen || webhook.preset === 'signed';
      return { ok: false, failure: new Failure('WEBHOOK_UNAVAILABLE', detail, { cause: error }), again: isSafe ? 0 : null };
    }
  }

  return {
    async post(posting) {
      const webhook = Object.hasOwn(webhooks, posting.webhook) ? webhooks[posting.webhook] : undefined;
      if (!webhook) throw new Failure('WEBHOOK_UNKNOWN', `There is no \`${posting.webhook}\` under \`webhooks\`.`);
      for (let n = 1; ; n += 1) {
        const made = await attempt(webhook, posting);
        if (made.ok) return { attempts: n };
        if (made.again === null || n >= webhook.attempts) throw made.failure;
        const waitMs = Math.max(made.again, againAfterMs * 4 ** (n - 1));
        await delay(waitMs, undefined, { signal: AbortSignal.any([posting.signal, closing.signal]) }).catch(() => {
          throw new Failure(posting.signal.aborted ? 'CALL_CANCELLED' : 'SHUTTING_DOWN');
        });
      }
    },
    close: () => Promise.resolve(closing.abort()),
  };
}

const isPassing = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500;

/** Milliseconds that a receiver asks to wait, bounded; 0 if it does not say. */
const waitOf = (header: string | undefined): number =>
  header !== undefined && /^\d{1,6}$/.test(header.trim()) ? Math.min(Number(header) * 1_000, longestWaitMs) : 0;

function refusal(error: unknown): Failure {
  if (!(error instanceof Failure)) throw error;
  if (error.code === 'WEBHOOK_REFUSED') return error;
  return new Failure('WEBHOOK_REFUSED', 'Its address may not be asked: it is not on the public web, or on an unusual port.');
}
