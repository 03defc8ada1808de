import type { ConsumptionLoad, Delivery } from '@conclave/ports';
import type { Metrics } from '../metrics/metrics.js';
import { RecentIds } from '../metrics/recent-ids.js';

/** Deferred tasks return as first deliveries; at least this many of them are remembered. */
const remembered = 2_000;

/** Load of one task class in this process. */
export interface ClassLoad {
  /** Maximum number of concurrent tasks. */
  readonly slots: number;
  readonly busy: number;
  /** Milliseconds that the oldest waiting task has waited since the log accepted it; 0 if none is waiting. */
  readonly waitMs: number;
}

/** Measures one task class of a process: the waiting time of its tasks and its busy slots. */
export class TaskLoad {
  private readonly begun = new RecentIds(remembered);

  constructor(
    readonly taskClass: string,
    private readonly slots: number,
    private readonly consumption: () => ConsumptionLoad | null,
    private readonly metrics: Metrics,
    private readonly now: () => number = Date.now,
  ) {}

  /** Notes that a handler begins a task. Each task is counted once, not again after a failure or a deferral. */
  begins({ event, attempt, appendedAt }: Delivery): void {
    // A re-driven task keeps its id and is appended again.
    if (attempt > 1 || !this.begun.add(`${event.id}@${appendedAt}`)) return;
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
