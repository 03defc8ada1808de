import { Module, type DynamicModule } from '@nestjs/common';
import { endedReads, type Loaded, type ServeOptions } from '@conclave/platform';
import { WEBHOOK_OPTIONS, WebhooksHandler, type Webhook, type WebhookOptions } from './webhooks.handler.js';

/** Notifies receivers of ended runs: its own consumer group, `webhooks`, in the merger process. */
@Module({})
export class WebhooksModule {
  /** `forgets`: the records of a run become unreadable once all consumers have read its end. */
  static register({ forgets = false, ...options }: WebhookOptions & { readonly forgets?: boolean }): DynamicModule {
    return {
      module: WebhooksModule,
      controllers: [WebhooksHandler],
      providers: [{ provide: WEBHOOK_OPTIONS, useValue: options }, endedReads(forgets)],
    };
  }
}

const telegram = 'https://api.telegram.org';

/** Number of hosts of clients' addresses that may fail at the same time without delaying others. */
const clientReceivers = 4;

/** How the webhooks of a configuration are served; null when none is configured, so that no run waits for a consumer it does not need. */
export function webhookService(
  { configuration, secrets }: Pick<Loaded, 'configuration' | 'secrets'>,
  forgets = false,
): Pick<ServeOptions, 'module' | 'retry' | 'concurrency' | 'held'> | null {
  const { webhooks, webhook_delivery: delivery, store_prompts: storePrompts } = configuration;
  if (Object.keys(webhooks).length === 0 && delivery.client_hosts.length === 0) return null;
  const resolved = Object.entries(webhooks).map(([name, { preset, url, chat_id: chatId }]): [string, Webhook] => {
    const { url: secretUrl, secret, botToken } = secrets.webhooks[name] ?? {};
    const base = url ?? secretUrl ?? telegram;
    return [name, { preset, secret, chatId, url: preset === 'telegram' ? `${base.replace(/\/$/, '')}/bot${botToken}/sendMessage` : base }];
  });
  const longestWaitMs = delivery.longest_retry_s * 1_000;
  // Room for the runs that may wait for each receiver, so that none of them fills it, and for deliveries to others in progress.
  const receivers = resolved.length + (delivery.client_hosts.length > 0 ? clientReceivers : 0);
  const held = receivers * delivery.waiting + 4 * delivery.concurrency;
  return {
    module: WebhooksModule.register({
      webhooks: Object.fromEntries(resolved),
      clientSecret: secrets.webhookClients,
      maxBytes: delivery.max_body_bytes,
      withQuestion: storePrompts === 'full',
      limits: { atOnce: delivery.concurrency, waiting: delivery.waiting, longestWaitMs },
      forgets,
    }),
    // The number of concurrent deliveries is decided per receiver.
    concurrency: { events: held },
    held,
    retry: { attempts: delivery.attempts, backoffMs: delivery.retry_s * 1_000, maxBackoffMs: longestWaitMs },
  };
}
