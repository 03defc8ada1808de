import { Failure, type StreamBody, type WorkerEntry } from '@conclave/contracts';

/** What a stream already contains of one task; plain JSON, stored by the adapter beside the stream. */
export interface TaskProgress {
  /** Newest attempt that appended anything. */
  readonly attempt: number;
  /** Characters (UTF-16 units) of that attempt in the stream. */
  readonly shown: number;
  /** Progress lines of that attempt in the stream: every n below `below`, and those of `beyond`. */
  readonly lines: { readonly below: number; readonly beyond: readonly number[] };
}

export type AppendPlan =
  | { readonly kind: 'refused' }
  | { readonly kind: 'append'; readonly bodies: readonly StreamBody[]; readonly progress: ReadonlyMap<string, TaskProgress> };

/**
 * Decides what an append of worker entries adds to a stream, for every adapter: drops repeats, cuts overlaps, lets a higher attempt
 * supersede the text of the earlier one, and refuses the whole append for a lower one. Pure. `progress` is the new progress of the changed
 * tasks. Throws Failure INTERNAL for a chunk that leaves a gap before it.
 */
export function planAppend(known: (taskId: string) => TaskProgress | null, entries: readonly WorkerEntry[]): AppendPlan {
  const progress = new Map<string, TaskProgress>();
  const bodies: StreamBody[] = [];
  for (const entry of entries) {
    const { taskId, attempt } = entry;
    const held = progress.get(taskId) ?? known(taskId);
    if (held && attempt < held.attempt) return { kind: 'refused' };
    const isNew = !held || attempt > held.attempt;
    if (isNew && held && held.shown > 0) bodies.push({ kind: 'superseded', taskId, attempt, discarded: held.shown });
    const present: TaskProgress = isNew ? nothingOf(attempt) : held;
    const added = entry.kind === 'chunk' ? addChunk(present, entry) : addLine(present, entry);
    if (added) bodies.push(added.body);
    if (added || isNew) progress.set(taskId, added?.progress ?? present);
  }
  return { kind: 'append', bodies, progress };
}

/** Progress of each task, computed from the stream's bodies in order: for an adapter that keeps it only in memory. */
export function progressIn(bodies: Iterable<StreamBody>): Map<string, TaskProgress> {
  const progress = new Map<string, TaskProgress>();
  for (const body of bodies) {
    if (body.kind !== 'superseded' && body.kind !== 'chunk' && body.kind !== 'progress') continue;
    const { taskId, attempt } = body;
    const held = progress.get(taskId);
    const present = held && held.attempt >= attempt ? held : nothingOf(attempt);
    const added = body.kind === 'chunk' ? addChunk(present, body) : body.kind === 'progress' ? addLine(present, body) : null;
    progress.set(taskId, added?.progress ?? present);
  }
  return progress;
}

const nothingOf = (attempt: number): TaskProgress => ({ attempt, shown: 0, lines: { below: 0, beyond: [] } });

interface Added {
  readonly body: StreamBody;
  readonly progress: TaskProgress;
}

function addChunk(present: TaskProgress, chunk: Extract<WorkerEntry, { kind: 'chunk' }>): Added | null {
  const { shown } = present;
  if (chunk.offset > shown) {
    throw new Failure('INTERNAL', `A chunk of ${chunk.taskId} begins at character ${chunk.offset}, but the stream holds ${shown}.`);
  }
  const end = chunk.offset + chunk.text.length;
  if (end <= shown) return null;
  return { body: { ...chunk, offset: shown, text: chunk.text.slice(shown - chunk.offset) }, progress: { ...present, shown: end } };
}

function addLine(present: TaskProgress, line: Extract<WorkerEntry, { kind: 'progress' }>): Added | null {
  const { below, beyond } = present.lines;
  if (line.n < below || beyond.includes(line.n)) return null;
  const numbers = new Set([...beyond, line.n]);
  let next = below;
  while (numbers.delete(next)) next += 1;
  return { body: line, progress: { ...present, lines: { below: next, beyond: [...numbers].sort((a, b) => a - b) } } };
}
