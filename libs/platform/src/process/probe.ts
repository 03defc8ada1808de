import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Mode } from '@conclave/contracts';
import type { EventLog, KnowledgeGraph, Models, PoolChange, RunStream, Search, StateStore, ToolServers, Vectors } from '@conclave/ports';
import type { Logger } from '../logging/logger.js';

/** Points that a process passes while it works. */
export type ProbePoint =
  | 'after-accept'
  | 'after-poll'
  | 'before-call'
  | 'mid-stream'
  | 'reply-ordered'
  | 'after-call'
  | 'before-publish'
  | 'after-publish'
  | 'after-commit'
  | 'engine-decided'
  | 'engine-committed'
  | 'timer-due'
  | 'timer-published'
  | 'cache-written'
  | 'vectors-written'
  | 'tool-called'
  | 'graph-written'
  | 'setting-written';

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
 * | service | name of a point | `crash`, the last line of its process; `freeze`, the last before it stops | work in progress | at |
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

/** The ports of a service that a probe may wrap. */
export interface ProbedPorts {
  readonly state: StateStore;
  readonly models?: Models;
  readonly search?: Search | null;
  readonly graph?: KnowledgeGraph | null;
  readonly vectors?: Vectors | null;
  readonly tools?: ToolServers | null;
}

/**
 * Reports what a process does to a test, and lets a test intervene. The shipped programs have `noProbe`; only the programs of the fault
 * tests start with another probe, and only they contain the code of the optional parts.
 */
export interface Probe {
  /** Whether lines are kept. Costly lines are made only then. */
  readonly records: boolean;
  /** Keeps a line before it returns, so that a process that dies next has written it. */
  note(line: HistoryLine): void;
  /** A service passes a point; `id` names the work in progress. */
  reached(service: string, point: ProbePoint, id: string): void;
  /** Whether something happens at the point. Only then, points after a write wait until the write is durable. */
  isArmed(service: string, point: ProbePoint): boolean;
  /** Wraps the stores of a process before its services get them. */
  readonly stores?: <S extends { readonly log: EventLog; readonly state: StateStore; readonly stream: RunStream }>(
    stores: S,
    of: { readonly service: string; readonly mode: Mode },
  ) => S;
  /** Options of the adapters of log and state. */
  readonly adapters?: {
    readonly log: { readonly commitsAtHandOver?: true };
    readonly state: { readonly comparesVersions?: false; readonly watchesIdentity?: false };
  };
  /** Changes the delivery pools of the log. `durable` resolves when acknowledged writes are durable. */
  readonly pool?: (mode: Mode, durable: () => Promise<void>) => PoolChange;
  /** Wraps the ports of one service. */
  readonly ports?: <P extends ProbedPorts>(ports: P, service: string) => P;
  /** Handles the requests of the gateway first. */
  readonly requests?: (stream: RunStream) => (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;
}

/** Opens the probe of a process when its id and logger are known. */
export type OpenProbe = (process: { readonly processId: string; readonly service: string; readonly logger: Logger }) => Probe;

export const noProbe: Probe = { records: false, note: () => {}, reached: () => {}, isArmed: () => false };

/** Reaches a point after a write that must survive. */
export async function reachedDurably(
  probe: Probe,
  store: { durable(): Promise<void> },
  ...at: Parameters<Probe['reached']>
): Promise<void> {
  if (probe.isArmed(at[0], at[1])) await store.durable();
  probe.reached(...at);
}
