import { makeEvent, TimerFired, timerId } from '@conclave/contracts';
import { EVENT_LOG, STATE, type DueTimer, type EventLog, type StateStore } from '@conclave/ports';
import { MergerModule } from '@conclave/service-merger';
import type { PlantedBug } from './planted-bug.js';

/** The timer pump with two lines in the other order: a timer is removed, then published. */
class HastyTimerPump {
  private readonly stop = new AbortController();

  constructor(
    private readonly state: StateStore,
    private readonly log: EventLog,
  ) {}

  onApplicationBootstrap(): void {
    for (const turn of [() => this.fireDue(), () => this.sweep()]) void this.repeat(turn);
  }

  onApplicationShutdown(): void {
    this.stop.abort();
  }

  private async repeat(turn: () => Promise<void>): Promise<void> {
    while (!this.stop.signal.aborted) await turn().catch(() => new Promise((resolve) => setTimeout(resolve, 500)));
  }

  private async fireDue(): Promise<void> {
    const due = await this.state.timers.due(100);
    if (due.length === 0) return this.state.timers.wait(1_000, this.stop.signal);
    const now = await this.state.now();
    for (const timer of due) {
      await this.state.timers.remove(timer);
      await this.log.publish([await this.fired(timer, now)]);
    }
  }

  private async fired({ runId, name, arm, dueAt, task }: DueTimer, now: number) {
    const about = task
      ? { started: await this.state.journal.started(task.id), liveWorkers: await this.state.leases.liveWorkers(task.taskClass) }
      : null;
    return makeEvent(
      TimerFired,
      { id: timerId(runId, name, arm), runId, source: 'merger', time: now },
      { runId, name, arm, dueAt, firedAt: now, task: about },
    );
  }

  private async sweep(): Promise<void> {
    const headers = await this.state.runs.unpublished(5_000, 100);
    if (headers.length > 0) await this.log.publish(headers);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
  }
}
Reflect.defineMetadata?.(
  'self:paramtypes',
  [
    { index: 0, param: STATE },
    { index: 1, param: EVENT_LOG },
  ],
  HastyTimerPump,
);

const timerPump = (MergerModule.register({ storePrompts: 'hash' }).providers ?? []).find(
  (provider) => typeof provider === 'function' && provider.name === 'TimerPump',
);

export const timerRemovedBeforePublish: PlantedBug = {
  name: 'timer-removed-before-publish',
  sentence: 'A due timer is removed from the store and then published: a death in between loses it.',
  check: '4 durable',
  plant: () => ({ replaced: new Map([[timerPump, HastyTimerPump]]) }),
};
