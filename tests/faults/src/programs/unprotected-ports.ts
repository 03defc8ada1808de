import { randomUUID } from 'node:crypto';
import { overriding, type Ports } from '@conclave/platform';
import {
  documentsChangedKey,
  type EventLog,
  type Journal,
  type Leases,
  type Runs,
  type RunStream,
  type StateStore,
  type Timers,
} from '@conclave/ports';
import { overlooking } from './overlooking.js';
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
    ...(off.has('store-refusals') ? acceptingAnyhow(state.runs) : {}),
    ...(off.has('erasure-marker') ? { erased: async () => null } : {}),
    ...(off.has('sweep') ? { unpublished: async () => [] } : {}),
    ...(off.has('deadline-check') ? { cancelled: async () => new Set<string>() } : {}),
  };
  const inJournal: Partial<Journal> = {
    ...(off.has('journal') ? forgetful(state.journal) : {}),
    ...(off.has('store-refusals') ? finishingAnyhow(state.journal) : {}),
    ...(off.has('attempts') ? { finish: (...end) => state.journal.finish(...end).then(() => 'stored') } : {}),
    ...(off.has('deadline-check') ? unflagged(state.journal) : {}),
  };
  const inState: Partial<StateStore> = {
    ...changedOrNothing('runs', state.runs, inRuns),
    ...changedOrNothing('journal', state.journal, inJournal),
    ...(off.has('document-changes') ? { caches: overriding(state.caches, { read: unchanged(state.caches) }) } : {}),
    ...(off.has('stored-settings') ? { settings: overriding(state.settings, { write: storingLater(state.settings) }) } : {}),
    ...(off.has('lease-expiry') ? { leases: lasting(state.leases) } : {}),
    ...(off.has('durable-acks') ? { durable: async () => {} } : {}),
    ...(off.has('timer-events') ? { timers: removingFirst(state.timers, () => state.durable()) } : {}),
  };
  const inLog: Partial<EventLog> = {
    ...(off.has('store-identity') ? { identity: { read: async () => null, write: (mark) => log.identity.write(mark) } } : {}),
    ...(off.has('store-refusals') ? { publish: (events) => unlessFull(() => log.publish(events), undefined) } : {}),
  };
  return {
    ...stores,
    ...changedOrNothing('log', log, inLog),
    ...changedOrNothing('state', state, inState),
    ...(off.has('attempts') ? { stream: withoutAttempts(stream) } : {}),
    ...(off.has('store-refusals') ? { stream: showingAnyhow(stream) } : {}),
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

/** A removal that is not durable when the process dies next would leave the timer where it was. */
const removingFirst = (timers: Timers, durable: () => Promise<void>): Timers =>
  overriding(timers, {
    due: async (limit) => {
      const due = await timers.due(limit);
      for (const timer of due) await timers.remove(timer);
      if (due.length > 0) await durable();
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

const unchanged =
  (caches: StateStore['caches']): StateStore['caches']['read'] =>
  async (tenant, key) =>
    key === documentsChangedKey ? null : caches.read(tenant, key);

/** Milliseconds after which a change is stored that was confirmed at once: a process that is killed behind its confirmation is dead by then. */
const laterMs = 500;

const storingLater =
  (settings: StateStore['settings']): StateStore['settings']['write'] =>
  async (...change) => {
    setTimeout(() => void settings.write(...change), laterMs);
    return true;
  };

/** Five times as long: longer than a process sleeps in any scenario. */
const lasting = (leases: Leases): Leases =>
  overriding(leases, { renewProcess: (process) => leases.renewProcess({ ...process, ttlMs: process.ttlMs * 5 }) });

const acceptingAnyhow = (runs: Runs): Pick<Runs, 'accept' | 'commit'> => ({
  accept: (request) => unlessFull(() => runs.accept(request), { kind: 'accepted' }),
  commit: (event, step) => unlessFull(() => runs.commit(event, step), { outputs: [], repeated: false, state: null }),
});

const finishingAnyhow = (journal: Journal): Pick<Journal, 'begin' | 'finish'> => ({
  begin: (call) => unlessFull(() => journal.begin(call), { kind: 'begun', attempt: 1, repeated: false }),
  finish: (...end) => unlessFull(() => journal.finish(...end), 'stored'),
});

const showingAnyhow = (stream: RunStream): RunStream =>
  overriding(stream, { append: (runId, entries) => unlessFull(() => stream.append(runId, entries), 'appended') });

const unlessFull = <T>(write: () => Promise<T>, instead: T): Promise<T> => overlooking('STORE_FULL', write, instead);
