import { isTerminal, type StreamBody, type StreamEntry, type WorkerEntry } from '@conclave/contracts';
import type { MemoryHints } from '../state/memory-hints.js';
import { planAppend, type AppendPlan, type TaskProgress } from './appending.js';
import type { RunStream, StreamPage } from './run-stream.js';

/** The stream of one run. */
export interface StoredStream {
  /** JSON of the bodies; the id of an entry is its position, from 1. */
  readonly entries: { readonly at: number; readonly body: string }[];
  readonly progress: Map<string, TaskProgress>;
  endedAt: number | null;
}

export class MemoryRunStream implements RunStream {
  readonly streams = new Map<string, StoredStream>();

  constructor(
    private readonly now: () => number,
    /** Milliseconds a stream remains readable after its terminal entry. */
    private readonly keepMs: number,
    private readonly hints: MemoryHints,
  ) {}

  async append(runId: string, entries: readonly WorkerEntry[]): Promise<'appended' | 'refused'> {
    const stream = this.of(runId);
    if (stream.endedAt !== null) return 'refused';
    const plan = this.plan(stream, entries);
    if (plan.kind === 'refused') return 'refused';
    for (const [taskId, progress] of plan.progress) stream.progress.set(taskId, progress);
    this.write(runId, plan.bodies);
    return 'appended';
  }

  /** Plans what an append adds. */
  plan(stream: StoredStream, entries: readonly WorkerEntry[]): AppendPlan {
    return planAppend((taskId) => stream.progress.get(taskId) ?? null, entries);
  }

  async read(runId: string, after: number, limit: number): Promise<StreamPage> {
    const stream = this.streams.get(runId);
    const expired = stream && stream.endedAt !== null && stream.endedAt + this.keepMs <= this.now();
    if (!stream || stream.entries.length === 0 || expired) return { entries: [], first: 0, last: 0, ended: false };
    const from = Math.max(0, after);
    const entries = stream.entries
      .slice(from, from + limit)
      .map(({ at, body }, index): StreamEntry => ({ ...(JSON.parse(body) as StreamBody), id: from + index + 1, at }));
    return { entries, first: 1, last: stream.entries.length, ended: stream.endedAt !== null };
  }

  /** Appends as part of a write; listeners are notified afterwards. */
  write(runId: string, bodies: readonly StreamBody[]): void {
    if (bodies.length === 0) return;
    const stream = this.of(runId);
    const at = this.now();
    for (const body of bodies) stream.entries.push({ at, body: JSON.stringify(body) });
    if (bodies.some(isTerminal)) stream.endedAt ??= at;
    this.hints.send('stream', runId);
  }

  /** Drops the entries; the stream has ended and accepts no more. */
  erase(runId: string): void {
    this.streams.set(runId, { entries: [], progress: new Map(), endedAt: this.now() });
  }

  private of(runId: string): StoredStream {
    let stream = this.streams.get(runId);
    if (!stream) this.streams.set(runId, (stream = { entries: [], progress: new Map(), endedAt: null }));
    return stream;
  }
}
