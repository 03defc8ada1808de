import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Delivery, DeliveryRecorded, Failure, makeEvent, type RunCompleted } from '@conclave/contracts';
import {
  EventPattern,
  LOGGER,
  METRICS,
  PROCESS,
  type DeliveryContext,
  type Logger,
  type Metrics,
  type ProcessIdentity,
} from '@conclave/platform';
import { STATE, WEBHOOKS, type HandlerOutcome, type StateStore, type Webhooks } from '@conclave/ports';
import { deliveriesKey } from '@conclave/strategies';
import * as z from 'zod';

/** Milliseconds after the end of a run in which its result is news: a new consumer group reads the log from its beginning. */
const freshMs = 24 * 3_600_000;
/** Milliseconds that a delivery is remembered: longer than its event can come again as news. */
const rememberedMs = 2 * freshMs;

const Deliveries = z.array(Delivery);

/**
 * Sends the result of an ended run to the webhooks of its template. The run and its answer stand already: nothing waits for a webhook.
 * Each is sent a result once, whatever is delivered again: one that was begun by a process that died is not begun again.
 */
@Controller()
export class DeliveryHandler {
  constructor(
    @Inject(STATE) private readonly state: Pick<StateStore, 'caches' | 'once' | 'now'>,
    @Inject(WEBHOOKS) private readonly webhooks: Webhooks | null,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'info' | 'warn'>,
    @Inject(METRICS) private readonly metrics: Pick<Metrics, 'count'>,
    @Inject(PROCESS) private readonly process: Pick<ProcessIdentity, 'id'>,
  ) {}

  @EventPattern('RunCompleted')
  async onCompleted(@Payload() event: RunCompleted, @Ctx() context: DeliveryContext): Promise<HandlerOutcome> {
    const { runId, data } = event;
    const { tenant } = data.caller;
    const names = [...new Set(data.deliver ?? [])];
    if (names.length === 0) return [];
    const known = Deliveries.safeParse((await this.state.caches.read(tenant, deliveriesKey(runId)))?.value);
    const deliveries = known.success ? known.data : await this.deliver(names, event, context.signal);
    return deliveries.map((delivery) =>
      makeEvent(DeliveryRecorded, { id: `${runId}/delivery/${delivery.webhook}`, runId, source: 'delivery', time: delivery.at }, delivery),
    );
  }

  private async deliver(names: readonly string[], event: RunCompleted, signal: AbortSignal): Promise<readonly Delivery[]> {
    const { runId, data } = event;
    const { tenant } = data.caller;
    const deliveries = await Promise.all(names.map((name) => this.send(name, event, signal)));
    await this.state.caches.write({ tenant, key: deliveriesKey(runId), value: deliveries, ttlMs: rememberedMs, tags: [] });
    for (const { webhook, status, attempts, failure } of deliveries) {
      this.metrics.count('deliveries_total', { webhook, status });
      if (status === 'delivered') this.logger.info('A result was delivered.', { run: runId, webhook, attempts });
      else this.logger.warn('A result was not delivered; the run has its answer.', { run: runId, webhook, status, code: failure?.code });
    }
    return deliveries;
  }

  /** Throws STORE_*, CALL_CANCELLED and SHUTTING_DOWN; every other failure is how the delivery ended. */
  private async send(webhook: string, { id, runId, data }: RunCompleted, signal: AbortSignal): Promise<Delivery> {
    const at = await this.state.now();
    const ended = (status: Delivery['status'], rest: Partial<Delivery> = {}): Delivery => ({ webhook, status, attempts: 0, failure: null, at, ...rest });
    if (at - data.completedAt > freshMs) return ended('late');
    const name = `delivery/${runId}/${webhook}`;
    const { mine } = await this.state.once.claim({ tenant: data.caller.tenant, name, holder: this.process.id, ttlMs: rememberedMs });
    if (!mine) return ended('unknown');
    const { template, outcome, reason, question, answer, sources, rounds, usage, completedAt } = data;
    const result = { run: runId, template: template.id, outcome, reason, question, answer, sources, rounds, calls: usage.calls, completedAt };
    try {
      if (!this.webhooks) throw new Failure('WEBHOOK_UNKNOWN');
      const { attempts } = await this.webhooks.post({ webhook, id: `${id}/${webhook}`, result, signal });
      return ended('delivered', { attempts });
    } catch (error) {
      if (!(error instanceof Failure) || !error.code.startsWith('WEBHOOK_')) throw error;
      return ended('failed', { failure: { code: error.code, message: error.message, retriable: error.retriable } });
    }
  }
}
