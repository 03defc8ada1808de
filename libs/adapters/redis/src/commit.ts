import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure, isTerminal, type Event } from '@conclave/contracts';
import { commitAttempts, type Committed, type Step, type StepTime, type StoreTtl } from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import { attempted } from './attempted.js';
import { type Keys, runOf } from './keys.js';
import { KnownRuns, type KnownRun } from './known-runs.js';
import { packed, unpacked } from './packed.js';
import { loadRun, writeStep, type LoadReply } from './scripts/commit.js';
import { timerMember, timerRecord } from './timers.js';

export interface CommitHooks {
  /** Called between the computation of a step and its write. */
  beforeWrite?(event: Event): Promise<void>;
  /** Tests: false writes a step over a newer version without computing it again. */
  readonly comparesVersions?: boolean;
}

/** Length of the nonce before the stored outputs. */
export const nonceLength = randomUUID().length;

const parsed = <S>(state: string | null): S | null => (state === null ? null : (JSON.parse(unpacked(state)) as S));

const repeatedFrom = <S>(record: string, state: string | null): Committed<S> => ({
  outputs: JSON.parse(unpacked(record.slice(nonceLength))) as Event[],
  repeated: true,
  state: parsed<S>(state),
});

type MakeStep<S> = (current: S | null, at: StepTime) => Step<S> | null;

/** A computed step and the version it builds on. */
interface ComputedStep<S> {
  readonly now: number;
  readonly version: number;
  readonly made: Step<S> | null;
}

/** An event that was applied before. */
interface AppliedEvent {
  readonly record: string;
  readonly state: string | null;
}

/** The event does not concern the run, or the run was erased. */
const nothing: Committed<never> = { outputs: [], repeated: false, state: null };

const notBegun: KnownRun = { version: 0, state: null };

/**
 * `Runs.commit`: computes the pure step here and writes it with compare-and-set in one script. One round trip is enough when this process
 * also wrote the previous step; otherwise it reads first. When another process was faster, it computes again.
 */
export class Commits {
  private readonly known = new KnownRuns();

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl,
    private readonly hooks: CommitHooks,
    private readonly now: () => Promise<number>,
    /** Whether the data left by ended runs may be packed. */
    private readonly packs: () => boolean,
  ) {}

  async commit<S>(event: Event, step: MakeStep<S>): Promise<Committed<S>> {
    try {
      return await this.committed(event, step);
    } catch (error) {
      // The content of the store is unknown now; it may even be a different store.
      this.known.clear();
      throw error;
    }
  }

  private async committed<S>(event: Event, step: MakeStep<S>): Promise<Committed<S>> {
    const { at } = this.keys.of(event.runId);
    const nonce = randomUUID();
    const begun = (await this.fromKnown(event, step)) ?? (await this.fromStore(event, step));
    if ('record' in begun) return repeatedFrom<S>(begun.record, begun.state);

    let { made, version } = begun;
    for (let attempt = 1; attempt <= commitAttempts; attempt += 1) {
      if (!made) return nothing;
      const state = JSON.stringify(made.next);
      const write = this.write(event, made, { state, version, nonce });
      await this.hooks.beforeWrite?.(event);
      const reply = await this.connection.run(at, writeStep, write.keys, write.parameters);
      if (reply[0] === 'applied') {
        if (made.terminal) this.known.forget(event.runId);
        else this.known.set(event.runId, { version: version + 1, state });
        return { outputs: made.outputs, repeated: false, state: made.next };
      }
      this.known.forget(event.runId);
      if (reply[0] === 'erased') return nothing;
      if (reply[0] === 'repeated') return repeatedFrom<S>(reply[1], reply[2]);
      version = reply[1];
      if (this.hooks.comparesVersions !== false) made = step(parsed<S>(reply[2]), { now: begun.now, version });
      // Many concurrent writers: spread them, or most of them lose again.
      if (attempt > 2) await delay(Math.random() * Math.min(attempt, 20));
    }
    throw new Failure('COMMIT_CONFLICT', undefined, { context: { runId: event.runId, event: event.id, attempts: commitAttempts } });
  }

  /**
   * Computes the step on the state this process wrote last, or on null for the request that begins the run. If it returns null or throws,
   * it is computed again on the stored state where that is newer.
   */
  private async fromKnown<S>(event: Event, step: MakeStep<S>): Promise<ComputedStep<S> | AppliedEvent | null> {
    const known = this.known.get(event.runId) ?? (event.id === event.runId ? notBegun : undefined);
    if (!known) return null;
    const now = await this.now();
    const make = (state: string | null, version: number) => step(parsed<S>(state), { now, version });
    const tried = attempted(() => make(known.state, known.version));
    if (tried.ok && tried.value) return { now, version: known.version, made: tried.value };
    const [version, state, record, isErased] = await this.load(event);
    if (record !== null) return { record, state };
    if (isErased) return { now, version, made: null };
    if (version !== known.version) return { now, version, made: make(state, version) };
    if (!tried.ok) throw tried.error;
    return { now, version, made: null };
  }

  private async fromStore<S>(event: Event, step: MakeStep<S>): Promise<ComputedStep<S> | AppliedEvent> {
    // One clock for all steps of a run: in a cluster each node has its own clock.
    const [now, [version, state, record, isErased]] = await Promise.all([this.now(), this.load(event)]);
    if (record !== null) return { record, state };
    // The step would take the run for one that has not begun, and its record would wait for it.
    if (isErased) return { now, version, made: null };
    return { now, version, made: step(parsed<S>(state), { now, version }) };
  }

  private load(event: Event): Promise<LoadReply> {
    const { at, run, applied } = this.keys.of(event.runId);
    return this.connection.run(at, loadRun, [run, applied], [event.id, this.ttl.retentionMs]);
  }

  private write<S>(
    event: Event,
    made: Step<S>,
    { state, version, nonce }: { readonly state: string; readonly version: number; readonly nonce: string },
  ): { keys: string[]; parameters: (string | number)[] } {
    const { runId } = event;
    const own = this.keys.of(runId);
    const { at } = own;
    const { keys, ttl } = this;
    // Tasks and child runs always lie in the bucket of their root run.
    const flagged = made.cancels.map((id) => keys.of(runOf(id)));
    if (flagged.some((one) => one.at.n !== at.n)) throw new RangeError(`A step of ${runId} cancels tasks of another run.`);
    const kept = made.terminal && this.packs() ? packed : (json: string): string => json;
    const change = {
      entries: made.entries.map((entry) => JSON.stringify(entry)),
      arm: made.arm.map((timer) => [timerMember(runId, timer.name), String(timer.dueAt), timerRecord(timer)]),
      disarm: made.disarm.map((name) => timerMember(runId, name)),
      cancels: made.cancels,
      perRun: [own.journal, own.started, own.cancelled, own.commands, own.attached, own.usage],
    };
    return {
      keys: [
        ...[own.run, own.applied, own.stream, own.streamTasks, at.open, at.unpublished, at.timers, at.timerData],
        ...flagged.flatMap(({ cancelled, run }) => [cancelled, run]),
      ],
      parameters: [
        ...[runId, event.id, nonce, version],
        ...[kept(state), kept(JSON.stringify(made.outputs)), made.status, made.terminal ? '1' : '0'],
        ...[made.entries.some(isTerminal) ? '1' : '0', JSON.stringify(change), ttl.retentionMs, ttl.streamMs],
        ...[keys.channel('stream'), keys.channel('cancel'), keys.channel('timers')],
      ],
    };
  }
}
