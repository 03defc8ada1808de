/** One request to a receiver. */
export interface WebhookPost {
  readonly url: string;
  /** Origin of the address. The host of a client's address must be on the allow-list. */
  readonly by: 'operator' | 'client';
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Posts to receivers of webhooks. Adapter: HTTP, which checks each address and follows no redirect. */
export interface WebhookSender {
  /** Throws WEBHOOK_REFUSED for a client's address that may not be called. Its host name is looked up only at the delivery. */
  check(url: string): void;
  /**
   * Resolves once the receiver has answered with a status of 200 to 299. Throws WEBHOOK_REFUSED, WEBHOOK_FAILED, CALL_CANCELLED once
   * `signal` aborts. No failure reveals more of the address than its host. If a receiver asks with `Retry-After` to be called later, the
   * failure has `retryAfterMs`.
   */
  post(post: WebhookPost): Promise<void>;
}
