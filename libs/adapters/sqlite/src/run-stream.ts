import type { StreamBody, WorkerEntry } from '@conclave/contracts';
import { planAppend, type RunStream, type StreamPage } from '@conclave/ports';
import type { Store, Tick } from './database/database.js';
import type { ProcessHints } from './state/hints.js';
import { shownOf, type Streams } from './streams.js';

const nothing: StreamPage = { entries: [], first: 0, last: 0, ended: false };

export class SqliteRunStream implements RunStream {
  constructor(
    private readonly database: Store,
    private readonly streams: Streams,
    private readonly hints: ProcessHints,
    private readonly now: () => number,
    /** Milliseconds a stream stays readable after its terminal entry. */
    private readonly keepMs: number,
  ) {}

  append(runId: string, entries: readonly WorkerEntry[]): Promise<'appended' | 'refused'> {
    return this.database.order((tick) => {
      const stream = this.streams.of(runId);
      if (stream.endedAt !== null) return 'refused';
      const plan = planAppend((taskId) => stream.tasks.get(taskId) ?? null, entries);
      if (plan.kind === 'refused') return 'refused';
      this.write(tick, runId, plan.bodies);
      tick.afterWrite(() => {
        for (const [taskId, progress] of plan.progress) stream.tasks.set(taskId, progress);
      });
      return 'appended';
    });
  }

  async read(runId: string, after: number, limit: number): Promise<StreamPage> {
    // Readers never see entries that a crash could lose.
    await this.database.committed();
    const stream = this.streams.of(runId);
    const { last, endedAt } = shownOf(stream);
    if (last < stream.first || (endedAt !== null && endedAt + this.keepMs <= this.now())) return nothing;
    return { entries: this.streams.read(stream, after, limit), first: stream.first, last, ended: endedAt !== null };
  }

  /** Appends entries as part of a write; listeners are notified after the commit. */
  write(tick: Tick, runId: string, bodies: readonly StreamBody[]): void {
    if (bodies.length === 0) return;
    this.streams.add(tick, this.streams.of(runId), bodies, this.now());
    tick.afterCommit(() => this.hints.send('stream', runId));
  }
}
