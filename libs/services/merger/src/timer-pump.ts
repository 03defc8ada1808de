import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { childRunId, isOutage, makeEvent, TimerFired, timerId } from '@conclave/contracts';
import { overdueTasks, runCapability, type RunState } from '@conclave/loop';
import { LOGGER, METRICS, PROBE, traceparentIn, type Logger, type Metrics, type Probe } from '@conclave/platform';
import { EVENT_LOG, STATE, type DueTimer, type EventLog, type StateStore } from '@conclave/ports';

/** Longest wait in milliseconds between two reads of the timers. */
const maxWaitMs = 1_000;
const batch = 100;
/** Headers older than this without a state were accepted by a gateway that died before publishing them. */
const headerAgeMs = 5_000;
const sweepMs = 5_000;
const afterFailureMs = 500;

/**
 * Publishes due timers as events and removes them only after the log has acknowledged them; republishes headers whose gateway died.
 * Any number of merger processes may do so: the events have the same ids.
 */
@Injectable()
export class TimerPump implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stop = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(STATE) private readonly state: StateStore,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(PROBE) private readonly probe: Probe,
    @Inject(METRICS) private readonly metrics: Pick<Metrics, 'count'>,
  ) {}

  onApplicationBootstrap(): void {
    this.running = Promise.all([this.repeat(() => this.fireDue()), this.repeat(() => this.sweep())]).then(() => undefined);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  private async repeat(turn: () => Promise<void>): Promise<void> {
    let failing = false;
    while (!this.stop.signal.aborted) {
      try {
        await turn();
        failing = false;
      } catch (error) {
        if (!failing) this.logger.warn('Timers wait until the log and the state store answer again.', { error });
        failing = true;
        await this.delay(afterFailureMs);
      }
    }
  }

  private async fireDue(): Promise<void> {
    const due = await this.state.timers.due(batch);
    if (due.length === 0) return this.state.timers.wait(maxWaitMs, this.stop.signal);
    this.probe.reached('merger', 'timer-due', due[0]!.runId);
    const now = await this.state.now();
    const fired = await Promise.all(due.map((timer) => this.firedOrDropped(timer, now)));
    const events = fired.filter((event) => event !== null);
    if (events.length > 0) await this.log.publish(events);
    this.probe.reached('merger', 'timer-published', due[0]!.runId);
    for (const timer of due) await this.state.timers.remove(timer);
  }

  /** Returns null for a timer that can never become an event, so that it does not block other timers. */
  private async firedOrDropped(timer: DueTimer, now: number) {
    try {
      return await this.fired(timer, now);
    } catch (error) {
      if (isOutage(error)) throw error;
      this.metrics.count('timers_dropped_total', {});
      const { runId: run, name, arm } = timer;
      this.logger.error('A timer was dropped: no event can be made of it.', { run, timer: name, arm, error });
      return null;
    }
  }

  private async fired({ runId, arm, dueAt }: DueTimer, now: number) {
    const tasks = await this.overdue(runId, now);
    const id = timerId(runId, arm);
    const traceparent = traceparentIn(await this.state.runs.header(runId), { id, runId });
    return makeEvent(TimerFired, { id, runId, source: 'merger', time: now, traceparent }, { runId, arm, dueAt, firedAt: now, tasks });
  }

  /**
   * The tasks that the engine may settle. None if they cannot be determined: only the engine can end a run whose state cannot be used, so the
   * timer has to reach it.
   */
  private async overdue(runId: string, now: number): Promise<TimerFired['data']['tasks']> {
    try {
      const run = await this.state.runs.read<RunState>(runId);
      const overdue = run ? overdueTasks(run.state, now) : [];
      return await Promise.all(
        overdue.map(async ({ taskId, taskClass }) => ({
          taskId,
          started: await this.started(taskId, run!.state),
          liveWorkers: await this.state.leases.liveWorkers(taskClass),
        })),
      );
    } catch (error) {
      if (isOutage(error)) throw error;
      this.logger.error('The overdue tasks of a run cannot be determined: its timer fires without them.', { run: runId, error });
      return [];
    }
  }

  /** A task that is a child run has begun once that run is accepted. */
  private async started(taskId: string, { tasks }: RunState): Promise<boolean> {
    if (tasks[taskId]?.spec.capability !== runCapability) return this.state.journal.started(taskId);
    return (await this.state.runs.header(childRunId(taskId))) !== null;
  }

  private async sweep(): Promise<void> {
    const headers = await this.state.runs.unpublished(headerAgeMs, batch);
    if (headers.length > 0) await this.log.publish(headers);
    await this.delay(sweepMs);
  }

  private delay(ms: number): Promise<void> {
    if (this.stop.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const { signal } = this.stop;
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
    });
  }
}
