import { randomUUID } from 'node:crypto';
import { overriding, type Ports } from '@conclave/platform';
import type { EventLog, Journal, Runs, RunStream, StateStore, Timers } from '@conclave/ports';
import type { Protections } from './protections.js';

type Stores = Pick<Ports, 'log' | 'state' | 'stream'>;

/**
 * Switches off protections of log, state store and run streams. Those of the adapters (`offset-tracker`, `compare-and-set`, half of
 * `store-identity`) are adapter options, those of the delivery are in `unprotected-pool.ts`, and `stream-resume` is in
 * `forgetful-streams.ts`.
 * Returns the same stores if all of these are on.
 */
export function unprotectedStores<S extends Stores>(stores: S, off: Protections): S {
  const { log, state, stream } = stores;
  const inRuns: Partial<Runs> = {
    ...(off.has('applied-ids') ? applyingAgain(state.runs) : {}),
    ...(off.has('sweep') ? { unpublished: async () => [] } : {}),
    ...(off.has('deadline-check') ? { cancelled: async () => new Set<string>() } : {}),
  };
  const inJournal: Partial<Journal> = {
    ...(off.has('journal') ? forgetful(state.journal) : {}),
    ...(off.has('attempts') ? { finish: (...end) => state.journal.finish(...end).then(() => 'stored') } : {}),
    ...(off.has('deadline-check') ? unflagged(state.journal) : {}),
  };
  const inState: Partial<StateStore> = {
    ...changedOrNothing('runs', state.runs, inRuns),
    ...changedOrNothing('journal', state.journal, inJournal),
    ...(off.has('timer-events') ? { timers: removingFirst(state.timers) } : {}),
  };
  const inLog: Partial<EventLog> = off.has('store-identity')
    ? { identity: { read: async () => null, write: (mark) => log.identity.write(mark) } }
    : {};
  return {
    ...stores,
    ...changedOrNothing('log', log, inLog),
    ...changedOrNothing('state', state, inState),
    ...(off.has('attempts') ? { stream: withoutAttempts(stream) } : {}),
  };
}

const changedOrNothing = <K extends string, T extends object>(name: K, whole: T, changed: Partial<T>): { readonly [N in K]?: T } =>
  (Object.keys(changed).length === 0 ? {} : { [name]: overriding(whole, changed) }) as { readonly [N in K]?: T };

/** Every event gets a new id each time, so none is recognised as applied. */
const applyingAgain = (runs: Runs): Pick<Runs, 'commit'> => ({
  commit: (event, step) => runs.commit({ ...event, id: `${event.id}~${randomUUID()}` }, step),
});

/** Abandons each step when it begins and stores no outcome: no process waits for its owner, no reply is found, attempts rise. */
const forgetful = (journal: Journal): Pick<Journal, 'begin' | 'finish' | 'abandon'> => ({
  begin: async (call) => {
    const begun = await journal.begin(call);
    if (begun.kind === 'begun') await journal.abandon({ runId: call.runId, step: call.step, attempt: begun.attempt });
    return begun;
  },
  finish: async () => 'stored',
  abandon: async () => {},
});

/** Cancel flags are also read when a call begins, so none may be reported there either. */
const unflagged = (journal: Journal): Pick<Journal, 'begin'> => ({ begin: (call) => journal.begin({ ...call, flags: [] }) });

const removingFirst = (timers: Timers): Timers =>
  overriding(timers, {
    due: async (limit) => {
      const due = await timers.due(limit);
      for (const timer of due) await timers.remove(timer);
      return due;
    },
    remove: async () => {},
  });

/** Every attempt is the first: none is refused as older, and none supersedes another. */
const withoutAttempts = (stream: RunStream): RunStream =>
  overriding(stream, {
    append: (runId, entries) =>
      stream.append(
        runId,
        entries.map((entry) => ({ ...entry, attempt: 1 })),
      ),
  });
