import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Failure, type Template } from '@conclave/contracts';
import { classOf } from '@conclave/loop';
import { leaseTtlMs, loadChannel, readLoadReport, STATE, type LoadReport, type StateStore } from '@conclave/ports';
import { capabilitiesOf } from '@conclave/strategies';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';

/** Longest Retry-After in seconds; clients ignore longer values. */
const longestRetryS = 60;
/** Milliseconds between two attempts to subscribe to the workers' reports. */
const listenAgainMs = 5_000;

/**
 * How long tasks wait for a worker, from the workers' reports. A report that is not renewed expires, and a class without a report counts as free:
 * its runs are admitted.
 */
@Injectable()
export class QueueWaits implements OnApplicationShutdown {
  private readonly reports = new Map<string, { readonly at: number; readonly classes: LoadReport['classes'] }>();
  private listening: Promise<(() => Promise<void>) | null> | null = null;
  private nextTry = 0;

  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) private readonly state: StateStore,
  ) {
    this.listen();
  }

  /**
   * Throws QUEUE_TOO_LONG when tasks of a class that the template may use wait longer than the configured limit, or longer than their own start
   * time-out.
   */
  assertShort(template: Template): void {
    const { maxQueueWaitMs, retryAfterS } = this.limits;
    if (maxQueueWaitMs === 0) return;
    this.listen();
    const limit = Math.min(maxQueueWaitMs, template.start_timeout_s * 1000);
    for (const taskClass of classesOf(template)) {
      const waitMs = this.waitOf(taskClass);
      if (waitMs === null || waitMs <= limit) continue;
      const overS = Math.ceil((waitMs - limit) / 1000);
      throw new Failure(
        'QUEUE_TOO_LONG',
        `Tasks of the class ${taskClass} wait ${Math.round(waitMs / 1000)} s for a worker; the limit is ${limit / 1000} s.`,
        { retryAfterMs: Math.min(longestRetryS, Math.max(retryAfterS, overS)) * 1000 },
      );
    }
  }

  /** Milliseconds a task of the class waits, averaged over the slots of its live workers; null without a report. */
  waitOf(taskClass: string): number | null {
    this.forgetOld();
    let slots = 0;
    let sum = 0;
    for (const { classes } of this.reports.values()) {
      const load = Object.hasOwn(classes, taskClass) ? classes[taskClass]! : null;
      if (!load) continue;
      slots += load.slots;
      sum += load.slots * load.waitMs;
    }
    return slots === 0 ? null : sum / slots;
  }

  async onApplicationShutdown(): Promise<void> {
    const stop = await this.listening;
    await stop?.();
  }

  /** Subscribes to the workers' reports; retries later if the store does not answer. */
  private listen(): void {
    if (this.limits.maxQueueWaitMs === 0 || this.listening || Date.now() < this.nextTry) return;
    this.nextTry = Date.now() + listenAgainMs;
    this.listening = this.state.hints
      .subscribe(loadChannel, (payload) => this.take(payload))
      .catch((error: unknown) => {
        this.options.logger.warn('queue waits are unknown: the reports of the workers cannot be read yet', { error });
        this.listening = null;
        return null;
      });
  }

  private take(payload: string): void {
    const report = readLoadReport(payload);
    if (!report) return;
    this.forgetOld();
    if (Object.keys(report.classes).length === 0) this.reports.delete(report.worker);
    else this.reports.set(report.worker, { at: performance.now(), classes: report.classes });
  }

  private forgetOld(): void {
    const oldest = performance.now() - leaseTtlMs;
    for (const [worker, { at }] of this.reports) if (at < oldest) this.reports.delete(worker);
  }
}

/** Task classes that a run of the template may use. */
export const classesOf = (template: Template): ReadonlySet<string> =>
  new Set([...capabilitiesOf(template), 'judge'].map((capability) => classOf(template, capability)));
