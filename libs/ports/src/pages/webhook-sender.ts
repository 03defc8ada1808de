/** One request to a receiver. */
export interface WebhookPost {
  readonly url: string;
  /** Who gave the address: a client's must be on the allow-list. */
  readonly by: 'operator' | 'client';
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Posts to receivers of webhooks. Adapter: HTTP, which checks each address and follows no redirect. */
export interface WebhookSender {
  /** Throws WEBHOOK_REFUSED for an address of a client that may not be called. A name is looked up only at the delivery. */
  check(url: string): void;
  /**
   * Resolves once the receiver has answered with a status of 200 to 299. Throws WEBHOOK_REFUSED, WEBHOOK_FAILED, CALL_CANCELLED once
   * `signal` aborts. No failure says more of the address than its host. A receiver that asks to be called later with `Retry-After` says so
   * in the failure's `retryAfterMs`.
   */
  post(post: WebhookPost): Promise<void>;
}
