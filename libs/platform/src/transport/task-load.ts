import type { ConsumptionLoad, Delivery } from '@conclave/ports';
import type { Metrics } from '../metrics/metrics.js';

/** Deferred tasks come again as first deliveries; so many of them are remembered. */
const remembered = 2_000;

/** How busy the workers of one task class in this process are. */
export interface ClassLoad {
  /** Tasks they run at most at the same time. */
  readonly slots: number;
  readonly busy: number;
  /** Milliseconds that the oldest task which waits here has waited since the log took it; 0 when none waits. */
  readonly waitMs: number;
}

/** Watches one task class of a process: what its tasks waited, how many of its slots are busy. */
export class TaskLoad {
  private readonly begun = new Set<string>();

  constructor(
    readonly taskClass: string,
    private readonly slots: number,
    private readonly consumption: () => ConsumptionLoad | null,
    private readonly metrics: Metrics,
    private readonly now: () => number = Date.now,
  ) {}

  /** A handler begins with a task. Counted once: not for a repetition after a failure, nor after a deferral. */
  begins({ event, attempt, appendedAt }: Delivery): void {
    // A task that is driven again keeps its id and is appended anew.
    const name = `${event.id}@${appendedAt}`;
    if (attempt > 1 || this.begun.has(name)) return;
    this.begun.add(name);
    if (this.begun.size > remembered) this.begun.delete(this.begun.values().next().value!);
    this.metrics.observe('task_queue_wait_seconds', { class: this.taskClass }, Math.max(0, this.now() - appendedAt) / 1000);
  }

  /** Null before the class is subscribed to. */
  read(): ClassLoad | null {
    const load = this.consumption();
    if (!load) return null;
    const waitMs = load.waitingSince === undefined ? 0 : Math.max(0, this.now() - load.waitingSince);
    return { slots: this.slots, busy: Math.min(this.slots, load.running), waitMs };
  }

  /** Writes the gauges of the class. */
  expose(): void {
    const load = this.read();
    if (!load) return;
    const labels = { class: this.taskClass };
    this.metrics.set('worker_slots', labels, load.slots);
    this.metrics.set('worker_busy_slots', labels, load.busy);
    this.metrics.set('task_waiting_seconds', labels, load.waitMs / 1000);
  }
}
