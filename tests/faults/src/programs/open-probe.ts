import { overriding, noProbe, type OpenProbe, type Probe } from '@conclave/platform';
import { crashingPorts } from './crashing-ports.js';
import { crashPointsOf } from './crash-point.js';
import { forgetfulStreams } from './forgetful-streams.js';
import { fullConnections, withoutBackpressure } from './full-connections.js';
import { historyFile, noteProcess } from './history-file.js';
import { announceProtections, protectionsOff } from './protections.js';
import { recordedLog, recordedPool, recordedRuns } from './recorded-ports.js';
import { refuseUnknownFields } from './strict-reading.js';
import { unprotectedPool } from './unprotected-pool.js';
import { unprotectedStores } from './unprotected-ports.js';
import { unprotectedServers } from './unprotected-servers.js';

/** What the programs of the fault tests read from their environment, in addition to the product's own variables. */
export interface FaultVariables {
  /** File that receives one JSON line for everything that happened. */
  readonly HISTORY_FILE?: string | undefined;
  /** `<service>:<point>` or `<service>:<point>#<n>`: the process kills itself at the n-th hit. */
  readonly CRASH_AT?: string | undefined;
  /** The same: the process stops itself (SIGSTOP). */
  readonly FREEZE_AT?: string | undefined;
  /** Protections to switch off, separated by commas. */
  readonly WITHOUT_PROTECTION?: string | undefined;
}

/**
 * The probe of a fault program: it writes a history, ends or stops the process at a point, and switches protections off. Without
 * HISTORY_FILE it does nothing. Throws Failure CONFIGURATION_INVALID.
 */
export const faultProbe =
  (variables: FaultVariables): OpenProbe =>
  ({ processId, service, logger }): Probe => {
    if (!variables.HISTORY_FILE) return noProbe;
    const note = historyFile(variables.HISTORY_FILE, processId);
    noteProcess(note, { processId, service });
    const off = protectionsOff(variables.WITHOUT_PROTECTION);
    announceProtections(off, service, { logger, note });
    if (off.has('tolerant-reading')) refuseUnknownFields();
    const crashPoints = crashPointsOf(variables, note);
    return {
      records: true,
      note,
      ...crashPoints,
      stores: (stores, { service: owner, mode }) => {
        const { log, state, ...rest } = unprotectedStores(stores, off);
        const recording = { note, service: owner };
        const runs = recordedRuns(state.runs, recording, { appends: mode === 'embedded', durable: () => state.durable() });
        return { ...rest, log: recordedLog(log, recording), state: overriding(state, { runs }) } as typeof stores;
      },
      adapters: {
        log: off.has('offset-tracker') ? { commitsAtHandOver: true } : {},
        state: {
          ...(off.has('compare-and-set') ? { comparesVersions: false } : {}),
          ...(off.has('store-identity') ? { watchesIdentity: false } : {}),
        },
      },
      pool: (mode, durable) => {
        const acknowledged = off.has('durable-acks') ? async () => {} : durable;
        const changes = [recordedPool(note, acknowledged), unprotectedPool(off, mode)].filter((change) => change !== null);
        return (options) => changes.reduce((changed, change) => change(changed), options);
      },
      ports: (ports, of) => {
        const changed = unprotectedServers(ports, off);
        return variables.CRASH_AT || variables.FREEZE_AT ? crashingPorts(changed, crashPoints, of) : changed;
      },
      requests: (stream) => {
        const hooks = [
          fullConnections(note),
          ...(off.has('backpressure') ? [withoutBackpressure] : []),
          ...(off.has('stream-resume') ? [forgetfulStreams(stream)] : []),
        ];
        return (request, response, next) =>
          hooks.reduceRight<(error?: unknown) => void>(
            (then, hook) => (error) => (error === undefined ? hook(request, response, then) : next(error)),
            next,
          )();
      },
    };
  };
