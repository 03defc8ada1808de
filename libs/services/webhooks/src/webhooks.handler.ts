import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { type DeliveryTarget, Failure, type RunCompleted, type WebhookPreset } from '@conclave/contracts';
import {
  ENDED_READS,
  type EndedReads,
  EventPattern,
  keptRecords,
  LOGGER,
  METRICS,
  type DeliveryContext,
  type Logger,
  type Metrics,
} from '@conclave/platform';
import { STATE, WEBHOOKS, type DeadReason, type HandlerOutcome, type StateStore, type WebhookSender } from '@conclave/ports';
import { bodyOf } from './bodies.js';
import { type DeliveryLimits, Receivers } from './receivers.js';
import { signed } from './signature.js';

/** A configured receiver, with its secrets. Never logged. */
export interface Webhook {
  readonly preset: WebhookPreset;
  readonly url: string;
  /** Absent: deliveries are not signed. */
  readonly secret?: string | undefined;
  readonly chatId?: string | undefined;
}

export interface WebhookOptions {
  readonly webhooks: Readonly<Record<string, Webhook>>;
  /** Signs deliveries to addresses of clients. */
  readonly clientSecret?: string | undefined;
  readonly maxBytes: number;
  /** Whether the question may be sent along with the answer. */
  readonly withQuestion: boolean;
  readonly limits: DeliveryLimits;
}
export const WEBHOOK_OPTIONS = Symbol('WebhookOptions');

/** Milliseconds for which a delivery is remembered: longer than a dead letter can be re-driven by default. */
const rememberedMs = 30 * 86_400_000;
/** Represents every address of a client, in ids and metrics. */
const byAddress = 'address';

const isFinal = (failure: unknown): boolean => failure instanceof Failure && failure.options.final === true;
const nameOf = (target: DeliveryTarget): string => ('webhook' in target ? target.webhook : byAddress);
/** The receiver for which deliveries are counted: an address by its host and tenant, so that no tenant can use up the room of another. */
const receiverOf = (target: DeliveryTarget, { data }: RunCompleted): string =>
  'webhook' in target ? target.webhook : `${URL.canParse(target.url) ? new URL(target.url).host : byAddress} of ${data.caller.tenant}`;
const markOf = (runId: string, name: string): string => `delivered/${runId}/${name}`;

/**
 * Notifies receivers of the end of a run, in a separate consumer group, `webhooks`. A delivery is made at least once: the log repeats a
 * failed one under the same id, and it becomes a dead letter after the last attempt. The run has already ended and stays as it is.
 */
@Controller()
export class WebhooksHandler {
  private readonly receivers: Receivers;

  constructor(
    @Inject(STATE)
    private readonly state: Pick<StateStore, 'caches' | 'durable' | 'now'> & { readonly runs: Pick<StateStore['runs'], 'erased'> },
    @Inject(WEBHOOKS) private readonly sender: WebhookSender | null,
    @Inject(WEBHOOK_OPTIONS) private readonly options: WebhookOptions,
    @Inject(METRICS) private readonly metrics: Pick<Metrics, 'count'>,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'error'>,
    @Inject(ENDED_READS) private readonly reads: EndedReads = keptRecords,
  ) {
    this.receivers = new Receivers(options.limits);
  }

  /** Throws the failure of the first target that could not be reached; those that were reached are not called again. */
  @EventPattern('RunCompleted')
  async onCompleted(@Payload() event: RunCompleted, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    await this.tell(event, context);
    await this.reads.done(event, 'webhooks');
    return [];
  }

  private async tell(event: RunCompleted, context: DeliveryContext): Promise<void> {
    const open = await this.undelivered(event);
    if (open.length === 0) return;
    // The end of a run that was deleted in the meantime is no longer delivered.
    if (await this.state.runs.erased(event.runId)) return this.forget(event);
    // The end of the run must not be published outside before it is durable here.
    await this.state.durable();
    const tried = await Promise.allSettled(open.map((target) => this.deliver(target, event, context)));
    const failures = tried.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    // While one target is tried again, the record is not a dead letter for another.
    if (failures.length > 0) throw failures.find((failure) => !isFinal(failure)) ?? failures[0];
  }

  private forget(event: RunCompleted): void {
    for (const target of event.data.deliver ?? []) this.receivers.forget(receiverOf(target, event), event.runId);
  }

  @EventPattern('dead:RunCompleted')
  async onDead(@Payload() { event, reason }: { readonly event: RunCompleted; readonly reason: DeadReason }): Promise<HandlerOutcome> {
    this.forget(event);
    for (const target of await this.undelivered(event)) {
      this.metrics.count('webhook_deliveries_total', { webhook: nameOf(target), outcome: 'dead' });
      this.logger.error(
        'A webhook was not delivered and is a dead letter. `conclave dead list` shows it; re-drive it once its receiver works.',
        {
          run: event.runId,
          webhook: nameOf(target),
          why: reason,
        },
      );
    }
    await this.reads.done(event, 'webhooks');
    return [];
  }

  private async undelivered({ runId, data }: RunCompleted): Promise<readonly DeliveryTarget[]> {
    const { deliver = [], caller } = data;
    const marks = await Promise.all(deliver.map((target) => this.state.caches.read(caller.tenant, markOf(runId, nameOf(target)))));
    return deliver.filter((_, n) => marks[n] === null);
  }

  private async deliver(target: DeliveryTarget, event: RunCompleted, { signal, attempt, logger }: DeliveryContext): Promise<void> {
    const { runId, data } = event;
    const name = nameOf(target);
    try {
      await this.receivers.deliver(receiverOf(target, event), runId, signal, () => this.post(target, event, signal));
    } catch (error) {
      // A process that is told to stop hands the record back, and a refused delivery was not sent: neither counts as an attempt.
      if (!signal.aborted && !isFinal(error)) this.metrics.count('webhook_deliveries_total', { webhook: name, outcome: 'failed' });
      throw error;
    }
    this.metrics.count('webhook_deliveries_total', { webhook: name, outcome: 'delivered' });
    logger.info('The webhook was delivered.', { webhook: name, attempt });
    const mark = { tenant: data.caller.tenant, key: markOf(runId, name), value: { attempt }, ttlMs: rememberedMs, tags: [] };
    await this.state.caches.write(mark);
  }

  private async post(target: DeliveryTarget, event: RunCompleted, signal: AbortSignal): Promise<void> {
    if (!this.sender) throw new Failure('WEBHOOK_FAILED', 'This process has no configured webhook.');
    const { maxBytes, withQuestion, clientSecret, webhooks } = this.options;
    const known = 'webhook' in target && Object.hasOwn(webhooks, target.webhook) ? webhooks[target.webhook] : undefined;
    if ('webhook' in target && !known)
      throw new Failure('WEBHOOK_UNKNOWN', `There is no webhook \`${target.webhook}\` in the configuration of this process.`);
    const { preset, url, secret, chatId }: Webhook = known ?? {
      preset: 'json',
      url: (target as { url: string }).url,
      secret: clientSecret,
    };
    const body = bodyOf(event, { preset, chatId, maxBytes, withQuestion });
    // Equal in every attempt, so that a receiver can drop repeats; contains no full stop, which separates the signed parts.
    const id = `${event.runId}_${nameOf(target)}`;
    const headers = secret === undefined ? {} : { ...signed(secret, { id, at: await this.state.now(), body }) };
    await this.sender.post({ url, by: known ? 'operator' : 'client', headers, body, signal });
  }
}
