import type { StreamBody, StreamEntry, WorkerEntry } from '@conclave/contracts';
import { planAppend, type RunStream, type StoreTtl, type StreamPage, type TaskProgress } from '@conclave/ports';
import { AppendsTogether } from './appends-together.js';
import { attempted } from './attempted.js';
import type { RedisConnection } from './connection.js';
import type { Keys } from './keys.js';
import { appendEntries, readEntries } from './scripts/stream.js';

/** Most tasks whose progress stays in memory, so that an append usually needs one round trip. */
const rememberedTasks = 10_000;

/** One list per run: entry n has the id n + 1 (plus the base of a rebuilt stream); stored as time, blank, JSON. */
export class RedisRunStream implements RunStream {
  /** Progress records as last read or written, least recently used first; '' for no record. */
  private readonly known = new Map<string, string>();
  private readonly together = new AppendsTogether((runId, entries) => this.appendNow(runId, entries));

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl,
  ) {}

  append(runId: string, entries: readonly WorkerEntry[]): Promise<'appended' | 'refused'> {
    return this.together.append(runId, entries);
  }

  async read(runId: string, after: number, limit: number): Promise<StreamPage> {
    const { at, run, stream } = this.keys.of(runId);
    const [length, ended, lines, base] = await this.connection.run(at, readEntries, [run, stream], [Math.max(0, after), limit]);
    if (length === 0) return { entries: [], first: 0, last: 0, ended: false };
    const entries = lines.map((line, n) => entryFrom(line, Math.max(base, after) + n + 1));
    return { entries, first: base + 1, last: base + length, ended: ended === '1' };
  }

  private async appendNow(runId: string, entries: readonly WorkerEntry[]): Promise<'appended' | 'refused'> {
    const tasks = [...new Set(entries.map(({ taskId }) => taskId))];
    if (tasks.length === 0) return 'appended';
    for (;;) {
      const known = tasks.map((task) => this.known.get(task) ?? '');
      const planned = attempted(() => planAppend((task) => progressFrom(known[tasks.indexOf(task)]!), entries));
      // Known progress may be stale: a hole or a refusal counts only once the store has confirmed it.
      const plan =
        planned.ok && planned.value.kind === 'append' ? planned.value : { bodies: [], progress: new Map<string, TaskProgress>() };
      const next = tasks.map((task, n) => (plan.progress.has(task) ? JSON.stringify(plan.progress.get(task)) : known[n]!));
      const reply = await this.write(runId, { tasks, known, next, bodies: plan.bodies.map((body: StreamBody) => JSON.stringify(body)) });
      if (reply[0] === 'conflict') {
        tasks.forEach((task, n) => this.remember(task, reply[1][n] ?? ''));
        continue;
      }
      if (reply[0] === 'refused') return 'refused';
      tasks.forEach((task, n) => this.remember(task, next[n]!));
      if (!planned.ok) throw planned.error;
      return planned.value.kind === 'refused' ? 'refused' : 'appended';
    }
  }

  private write(runId: string, change: { tasks: string[]; known: string[]; next: string[]; bodies: string[] }) {
    const { at, run, stream, streamTasks } = this.keys.of(runId);
    const parameters = [runId, JSON.stringify(change), this.ttl.retentionMs, this.keys.channel('stream')];
    return this.connection.run(at, appendEntries, [run, stream, streamTasks], parameters);
  }

  private remember(task: string, progress: string): void {
    this.known.delete(task);
    this.known.set(task, progress);
    if (this.known.size > rememberedTasks) this.known.delete(this.known.keys().next().value!);
  }
}

const progressFrom = (record: string): TaskProgress | null => (record === '' ? null : (JSON.parse(record) as TaskProgress));

function entryFrom(line: string, id: number): StreamEntry {
  const blank = line.indexOf(' ');
  return { ...(JSON.parse(line.slice(blank + 1)) as StreamBody), id, at: Number(line.slice(0, blank)) };
}
