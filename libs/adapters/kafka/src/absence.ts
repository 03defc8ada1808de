import type { KafkaLogger } from './options.js';

/** Tells people once that Kafka is away and once that it is back, however many groups of the process try to join it meanwhile. */
export class Absence {
  private readonly groups = new Set<string>();
  private since = 0;

  constructor(
    private readonly logger: KafkaLogger,
    private readonly clock: () => number = () => performance.now(),
  ) {}

  /** This group takes no records any more. */
  gone(group: string, error: Error): void {
    const first = this.groups.size === 0;
    this.groups.add(group);
    if (!first) return this.logger.debug('A consumer group cannot join Kafka yet.', { group, error });
    this.since = this.clock();
    this.logger.warn('The connection to Kafka was lost. No records are taken until it is back; it is tried again all the time.', {
      group,
      error,
    });
  }

  /** This group takes records. */
  back(group: string): void {
    if (!this.groups.delete(group) || this.groups.size > 0) return;
    this.logger.info('Kafka is back, and records are taken again.', { awayS: Math.round((this.clock() - this.since) / 1000) });
  }

  /** This group has ended. */
  forget(group: string): void {
    this.groups.delete(group);
  }
}
