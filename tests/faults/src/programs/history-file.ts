import { appendFileSync } from 'node:fs';
import type { HistoryLine } from '@conclave/platform';

/** Events to be appended to the log; the same in all phases of an operation. */
export interface PublishData {
  /** By a service itself, by the delivery for a handler, inside the commit of a step (embedded), or as a dead letter. */
  readonly by: 'service' | 'delivery' | 'commit' | 'dead-letter';
  /** For a dead letter, `id` is `<group>:<topic>/<partition>/<offset>` of the original record and `type` is `dead-letter`. */
  readonly events: readonly { readonly id: string; readonly type: string; readonly topic: string; readonly runId: string }[];
}

/** Appends a line before it returns, so that it is written even if the process dies next. */
export type Note = (line: HistoryLine) => void;

/** Writes history to a file of JSON lines shared by all processes of a test. */
export const historyFile =
  (file: string, processId: string): Note =>
  ({ actor, op, phase, id, data }) =>
    appendFileSync(file, `${JSON.stringify({ at: Date.now(), process: processId, actor, op, phase, id, data: data ?? null })}\n`);

/** Records the start of a process and, unless it is killed, its end. */
export function noteProcess(note: Note, { processId, service }: { readonly processId: string; readonly service: string }): void {
  const noteAs = (phase: string, code?: number): void =>
    note({
      actor: service,
      op: 'process',
      phase,
      id: processId,
      data: { pid: process.pid, service, ...(code === undefined ? {} : { code }) },
    });
  noteAs('start');
  process.once('exit', (code) => noteAs(code === 0 ? 'stop' : 'failed', code));
}
