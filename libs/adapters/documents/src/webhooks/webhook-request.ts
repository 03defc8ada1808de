import { createHmac } from 'node:crypto';
import type { RunResult } from '@conclave/ports';

/** A webhook as it is configured, with its secrets. */
export type Webhook =
  | { readonly preset: 'signed'; readonly url: string; readonly secret: string }
  | { readonly preset: 'telegram'; readonly url?: string; readonly token: string; readonly chat: string }
  | { readonly preset: 'discord'; readonly url: string };

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Characters of a message that the chat services take, with room for their own counting. */
const messageLength = { telegram: 3_000, discord: 1_800 } as const;
const telegramServer = 'https://api.telegram.org';

const cut = (text: string, length: number): string => {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
};

/** A result as a message for people. */
function messageOf({ question, answer, outcome, reason }: RunResult, length: number): string {
  const head = cut(question.replace(/\s+/g, ' ').trim(), 300);
  const body = answer ?? `No answer (${outcome}): ${reason}`;
  return cut(`${head}\n\n${body}`, length);
}

const json = { 'content-type': 'application/json', 'user-agent': 'conclave' };

/**
 * The request that tells a webhook of a result. A signed one follows Standard Webhooks: the signature is HMAC-SHA256 over
 * `id.timestamp.body`, and its key is the secret's bytes, of a secret `whsec_...` the bytes that its rest says in base64.
 * `now`: milliseconds since 1970.
 */
export function webhookRequest(webhook: Webhook, id: string, result: RunResult, now: number): WebhookRequest {
  switch (webhook.preset) {
    case 'telegram': {
      const text = messageOf(result, messageLength.telegram);
      const url = `${webhook.url ?? telegramServer}/bot${webhook.token}/sendMessage`;
      return { url, headers: json, body: JSON.stringify({ chat_id: webhook.chat, text, disable_web_page_preview: true }) };
    }
    case 'discord': {
      // What the model writes must not ring everybody.
      const body = { content: messageOf(result, messageLength.discord), allowed_mentions: { parse: [] } };
      return { url: webhook.url, headers: json, body: JSON.stringify(body) };
    }
    case 'signed': {
      const body = JSON.stringify({ type: 'run.completed', timestamp: new Date(result.completedAt).toISOString(), data: result });
      const timestamp = String(Math.floor(now / 1_000));
      const prefix = 'whsec_';
      const { secret } = webhook;
      const key = secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), 'base64') : Buffer.from(secret, 'utf8');
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
      return {
        url: webhook.url,
        headers: { ...json, 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
        body,
      };
    }
  }
}
