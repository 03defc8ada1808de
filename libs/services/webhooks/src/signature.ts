import { createHmac } from 'node:crypto';

/** Headers of one attempt, as "Standard Webhooks" 1.0 defines them. */
export interface SignedHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/**
 * Signs one attempt: HMAC-SHA256 over id, time and body, one signature for each secret, so that a receiver can change to another one.
 * `secret` is `whsec_` and base64, or several of them separated by spaces. `at` is milliseconds since 1970; receivers refuse signatures
 * that are minutes old.
 */
export function signed(
  secret: string,
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
): SignedHeaders {
  const seconds = String(Math.floor(at / 1_000));
  const signatures = secret
    .trim()
    .split(/\s+/)
    .map((one) => {
      const key = Buffer.from(one.replace(/^whsec_/, ''), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
    });
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') };
}
