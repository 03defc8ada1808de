import { isErased, type EventLog } from '@conclave/ports';
import { Recording } from './recording.js';
import { byRunFirst, RunRange } from './run-range.js';

/** Bytes of records held at once; parsed they take several times as much memory. */
const heldBytes = 64 * 1024 * 1024;

const isRead = (topic: string): boolean =>
  ['plan.requested', 'plan.created', 'results.ready', 'gap.detected', 'run.completed'].includes(topic) ||
  topic.startsWith('tasks.dispatched.');

const ofNoRun: ReadonlySet<string> = new Set(['SettingChanged', 'RunErased', 'DetailRead']);

/**
 * Collects the records of one run and of its child runs, or of all recorded runs for null, and passes them on run by run, parents first if
 * one run is requested. Each generation needs a pass over the log, and so do the runs that exceed the limit of memory; one run is always
 * kept whole. `strangers` counts audit records that cannot be decoded and name no run.
 */
export async function readRuns(
  { log, topics }: { readonly log: Pick<EventLog, 'read'>; readonly topics: readonly string[] },
  runId: string | null,
  each: (recording: Recording) => Promise<void>,
  limit = heldBytes,
): Promise<{ readonly strangers: number; readonly passes: number }> {
  const done = new Set<string>();
  let wanted: ReadonlySet<string> | null = runId === null ? null : new Set([runId]);
  let strangers = 0;
  let passes = 0;
  for (;;) {
    passes += 1;
    const held = new Held(limit);
    const range = wanted && new RunRange(wanted);
    const children: string[] = [];
    for (const topic of ['audit', ...byRunFirst(topics.filter(isRead))])
      for await (const record of log.read(topic, range?.of(topic))) {
        // The audit also contains records that belong to no run, and the remains of deleted runs.
        if (ofNoRun.has(record.event?.type ?? '') || isErased(record)) continue;
        const id = record.event?.runId ?? record.headers['ce_runid'];
        if (id === undefined) strangers += topic === 'audit' && passes === 1 ? 1 : 0;
        else if (!done.has(id) && (wanted === null || wanted.has(id))) {
          range?.saw(record);
          held.of(id, topic === 'audit')?.(record);
        }
      }
    for (const recording of held.runs()) {
      done.add(recording.runId);
      if (!recording.isRun) continue;
      await each(recording);
      if (runId !== null) children.push(...recording.children);
    }
    wanted = new Set([...held.later, ...children]);
    if (wanted.size === 0) return { strangers, passes };
  }
}

/** The runs of one pass. The audit is read first and determines which runs exist. */
class Held {
  readonly later = new Set<string>();
  private readonly recordings = new Map<string, Recording>();
  private bytes = 0;

  constructor(private readonly limit: number) {}

  of(runId: string, begins: boolean): ((record: Parameters<Recording['take']>[0]) => void) | null {
    if (this.later.has(runId)) return null;
    let recording = this.recordings.get(runId);
    if (!recording) {
      if (!begins) return null;
      if (this.bytes >= this.limit) {
        this.later.add(runId);
        return null;
      }
      this.recordings.set(runId, (recording = new Recording(runId)));
    }
    const run = recording;
    return (record) => {
      run.take(record);
      this.bytes += record.raw.length;
      this.shrink();
    };
  }

  /** Removes and returns runs, so that each can be freed once it is processed. */
  *runs(): Generator<Recording> {
    for (const [id, recording] of this.recordings) {
      this.recordings.delete(id);
      yield recording;
    }
  }

  /** Postpones the runs that began last until the rest fits; always keeps the first. */
  private shrink(): void {
    while (this.bytes > this.limit && this.recordings.size > 1) {
      const [id, recording] = [...this.recordings].at(-1)!;
      this.recordings.delete(id);
      this.later.add(id);
      this.bytes -= recording.bytes;
    }
  }
}
