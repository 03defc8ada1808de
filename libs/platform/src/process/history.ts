import { appendFileSync } from 'node:fs';

/**
 * One thing that happened, for the checks that compare what clients saw with what services did. `invoke` opens an operation;
 * `ok`, `fail` and `unknown` (it may or may not have happened) close the one of the same actor, op and id. An operation that is
 * never closed was cut off by the death of its process: it is unknown too. All other phases stand alone.
 *
 * | actor | op | phases | id | data |
 * | --- | --- | --- | --- | --- |
 * | service | `process` | `start`, `stop` (code 0), `failed` (other codes); none after a kill | process id | pid, service; code |
 * | service | `protection` | `off` | name of the protection | null |
 * | service | `publish` | `invoke`, `ok`, `unknown` | one of its own | `PublishData` |
 * | gateway or standalone | `accept` | `ok`, `fail` (overloaded), `unknown` | run | template |
 * | service of the group | `offset-commit` | `ok` | group | topic, partition, offset (Kafka) |
 * | service of the group | type of the event, `record` | `after-poll`, `before-publish`, `after-publish`, `after-commit` | event; `undecodable` | null |
 * | service | name of a crash point | `crash`, the last line of its process; `freeze`, the last before it stops | work in progress | at |
 * | service | `call` | `invoke`, `ok`, `fail`, `replayed` | step | attempt, model; attempt, stored |
 * | gateway | `run` | `accepted`, `attached`, `published`, `refused`, `cancelled` | run | reason |
 * | gateway | `client` | `left`, `answered`, `failed` | run | code |
 */
export interface HistoryLine {
  /** The actor: a service, a client, a fake model. */
  readonly actor: string;
  readonly op: string;
  /** A phase from the table. */
  readonly phase: string;
  /** Id of the event, call or run it concerns. */
  readonly id: string;
  readonly data?: unknown;
}

/** Events to be appended to the log; the same in all phases of an operation. */
export interface PublishData {
  /** By a service itself, by the delivery for a handler, inside the commit of a step (embedded), or as a dead letter. */
  readonly by: 'service' | 'delivery' | 'commit' | 'dead-letter';
  /** For a dead letter, `id` is `<group>:<topic>/<partition>/<offset>` of the original record and `type` is `dead-letter`. */
  readonly events: readonly { readonly id: string; readonly type: string; readonly topic: string; readonly runId: string }[];
}

export interface History {
  /** Appends before it returns, so that a process that dies next has written the line. */
  write(line: HistoryLine): void;
  readonly enabled: boolean;
}

export const noHistory: History = { write: () => {}, enabled: false };

/** History in a file of JSON lines shared by all processes of a test; writes nothing without a file. */
export function openHistory(file: string | undefined, processId: string): History {
  if (!file) return noHistory;
  return {
    write: ({ actor, op, phase, id, data }) =>
      appendFileSync(file, `${JSON.stringify({ at: Date.now(), process: processId, actor, op, phase, id, data: data ?? null })}\n`),
    enabled: true,
  };
}

/** Records the start of a process and, unless it is killed, its end. Does nothing without a history. */
export function noteProcess(history: History, { processId, service }: { readonly processId: string; readonly service: string }): void {
  if (!history.enabled) return;
  const note = (phase: string, code?: number): void =>
    history.write({
      actor: service,
      op: 'process',
      phase,
      id: processId,
      data: { pid: process.pid, service, ...(code === undefined ? {} : { code }) },
    });
  note('start');
  process.once('exit', (code) => note(code === 0 ? 'stop' : 'failed', code));
}
