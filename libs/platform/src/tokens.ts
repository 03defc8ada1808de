/** Injection tokens for what the platform provides to services, in addition to the ports. */
export const LOGGER = Symbol('Logger');
export const METRICS = Symbol('Metrics');
export const PROBE = Symbol('Probe');
export const PROCESS = Symbol('ProcessIdentity');
/** The receiver of reports that the end of a run was read. */
export const ENDED_READS = Symbol('EndedReads');
export const READINESS = Symbol('Readiness');

/** Identity of this process: its id in leases and the journal, and the task classes it serves. */
export interface ProcessIdentity {
  readonly id: string;
  readonly classes: readonly string[];
}
