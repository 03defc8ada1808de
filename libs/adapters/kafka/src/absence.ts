import type { KafkaLogger } from './options.js';

/** Logs once that Kafka is unavailable and once that it is back, for all groups of the process together. */
export class Absence {
  private readonly groups = new Set<string>();
  private since = 0;

  constructor(
    private readonly logger: KafkaLogger,
    private readonly clock: () => number = () => performance.now(),
  ) {}

  /** This group no longer receives records. */
  gone(group: string, error: Error): void {
    const first = this.groups.size === 0;
    this.groups.add(group);
    if (!first) return this.logger.debug('A consumer group cannot join Kafka yet.', { group, error });
    this.since = this.clock();
    this.logger.warn('The connection to Kafka was lost. No records are consumed until it is back; it is retried continuously.', {
      group,
      error,
    });
  }

  /** This group receives records again. */
  back(group: string): void {
    if (!this.groups.delete(group) || this.groups.size > 0) return;
    this.logger.info('Kafka is back, and records are consumed again.', { awayS: Math.round((this.clock() - this.since) / 1000) });
  }

  /** This group has ended. */
  forget(group: string): void {
    this.groups.delete(group);
  }
}
