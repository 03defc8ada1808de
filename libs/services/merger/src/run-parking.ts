import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { CommandIssued, commandId, makeEvent } from '@conclave/contracts';
import { LOGGER, METRICS, traceparentIn, type Logger, type Metrics } from '@conclave/platform';
import { EVENT_LOG, STATE, type EventLog, type StateStore } from '@conclave/ports';

/** Milliseconds that a parked run waits for a client to return. */
export const PARK_MS = Symbol('ParkMs');

/** A run without clients is parked after at most this plus the lease of a process, 6 s. */
const sweepMs = 2_000;
const batch = 100;
/** Milliseconds before a run is cancelled again. */
const tellAgainMs = 30_000;

/**
 * Parks the runs whose clients were lost with their gateway (a gateway that sees a client disconnect parks by itself), and cancels those to which
 * no client returns in time. Any number of merger processes may do so: a run that is ending ignores a second cancel.
 */
@Injectable()
export class RunParking implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> | null = null;
  private failing = false;
  private readonly told = new Map<string, number>();

  constructor(
    @Inject(STATE) private readonly state: StateStore,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(METRICS) private readonly metrics: Pick<Metrics, 'count'>,
    @Inject(PARK_MS) private readonly parkMs: number,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void (this.running ??= this.look().finally(() => (this.running = null))), sweepMs);
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await this.running;
  }

  private async look(): Promise<void> {
    try {
      await this.sweep();
      this.failing = false;
    } catch (error) {
      if (!this.failing) this.logger.warn('Runs without clients wait until the log and the state store answer again.', { error });
      this.failing = true;
    }
  }

  /** Checks once for runs whose clients are lost. Throws STORE_*, LOG_UNAVAILABLE. */
  async sweep(): Promise<void> {
    const { parked, overdue } = await this.state.runs.park(this.parkMs, batch);
    if (parked > 0) {
      this.metrics.count('parked_runs_total', {}, parked);
      this.logger.info('Runs are parked: the gateway of their clients is gone.', { runs: parked });
    }
    if (overdue.length === 0) return this.told.clear();
    const now = await this.state.now();
    for (const runId of overdue) {
      if ((this.told.get(runId) ?? -Infinity) + tellAgainMs > now) continue;
      await this.cancel(runId, now);
      this.told.set(runId, now);
    }
  }

  private async cancel(runId: string, now: number): Promise<void> {
    await this.state.runs.cancel(runId);
    const seq = await this.state.runs.nextCommandSeq(runId);
    const reason = 'no client came back';
    const id = commandId(runId, seq);
    const traceparent = traceparentIn(await this.state.runs.header(runId), { id, runId });
    const address = { id, runId, source: 'merger', time: now, traceparent } as const;
    const body = { seq, actor: 'merger', issuedAt: now, command: { name: 'cancel', reason } } as const;
    await this.log.publish([makeEvent(CommandIssued, address, body)]);
    this.logger.info('A parked run was cancelled.', { run: runId });
  }
}
