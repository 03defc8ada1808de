import { appendFileSync } from 'node:fs';

/** One thing that happened, for the tests that compare what clients saw with what services did. */
export interface HistoryLine {
  /** Who did it: a service, a client, a fake model. */
  readonly actor: string;
  readonly op: string;
  /** Such as `begin`, `end`, `crash`. */
  readonly phase: string;
  /** Id of the event, call or run it is about. */
  readonly id: string;
  readonly data?: unknown;
}
export interface History {
  /** Appends before it returns, so that a process which dies next has written it. */
  write(line: HistoryLine): void;
  readonly enabled: boolean;
}

export const noHistory: History = { write: () => {}, enabled: false };

/** History in a file of JSON lines shared by all processes of a test; nothing is written without a file. */
export function openHistory(file: string | undefined, processId: string): History {
  if (!file) return noHistory;
  return {
    write: ({ actor, op, phase, id, data }) =>
      appendFileSync(file, `${JSON.stringify({ at: Date.now(), process: processId, actor, op, phase, id, data: data ?? null })}\n`),
    enabled: true,
  };
}
