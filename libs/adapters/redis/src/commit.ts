import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure, isTerminal, type Event } from '@conclave/contracts';
import { commitAttempts, type Committed, type Step, type StepTime, type StoreTtl } from '@conclave/ports';
import type { Connection } from './connection.js';
import { type Keys, runOf } from './keys.js';
import { loadRun, writeStep } from './scripts/commit.js';
import { timerMember, timerRecord } from './timers.js';

export interface CommitHooks {
  /** Called between the computation of a step and its write. */
  beforeWrite?(event: Event): Promise<void>;
  /** False lets a step that met a newer version be written over it as it is. Only a test does that. */
  readonly comparesVersions?: boolean;
}

/** Length of the nonce that stands before the stored outputs. */
const nonceLength = randomUUID().length;

const parsed = <S>(state: string | null): S | null => (state === null ? null : (JSON.parse(state) as S));

const repeatedFrom = <S>(record: string, state: string | null): Committed<S> => ({
  outputs: JSON.parse(record.slice(nonceLength)) as Event[],
  repeated: true,
  state: parsed<S>(state),
});

/** `Runs.commit`: reads, computes the pure step here, and writes with compare-and-set in one script. */
export class Commits {
  constructor(
    private readonly connection: Connection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl,
    private readonly hooks: CommitHooks,
  ) {}

  async commit<S>(event: Event, step: (current: S | null, at: StepTime) => Step<S> | null): Promise<Committed<S>> {
    const { at, run, applied } = this.keys.of(event.runId);
    const nonce = randomUUID();
    const loaded = await this.connection.run(at, loadRun, [run, applied], [event.id, this.ttl.retentionMs]);
    const [now, , , record] = loaded;
    let [, version, state] = loaded;
    if (record !== null) return repeatedFrom<S>(record, state);

    let made: Step<S> | null = null;
    for (let attempt = 1; attempt <= commitAttempts; attempt += 1) {
      if (attempt === 1 || this.hooks.comparesVersions !== false) made = step(parsed<S>(state), { now, version });
      if (!made) return { outputs: [], repeated: false, state: null };
      const write = this.write(event, made, version, nonce);
      await this.hooks.beforeWrite?.(event);
      const reply = await this.connection.run(at, writeStep, write.keys, write.parameters);
      if (reply[0] === 'applied') return { outputs: made.outputs, repeated: false, state: made.next };
      if (reply[0] === 'repeated') return repeatedFrom<S>(reply[1], reply[2]);
      [, version, state] = reply;
      // Many writers at once: spread them, or most of them lose again.
      if (attempt > 2) await delay(Math.random() * Math.min(attempt, 20));
    }
    throw new Failure('COMMIT_CONFLICT', undefined, { context: { runId: event.runId, event: event.id, attempts: commitAttempts } });
  }

  private write<S>(event: Event, made: Step<S>, version: number, nonce: string): { keys: string[]; parameters: (string | number)[] } {
    const { runId } = event;
    const own = this.keys.of(runId);
    const { at } = own;
    const { keys, ttl } = this;
    // Of another bucket there would be none: tasks and child runs lie with the run that began them.
    const flagged = made.cancels.map((id) => keys.of(runOf(id)));
    if (flagged.some((one) => one.at.n !== at.n)) throw new RangeError(`A step of ${runId} cancels what lies with another run.`);
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
        ...[JSON.stringify(made.next), JSON.stringify(made.outputs), made.status, made.terminal ? '1' : '0'],
        ...[made.entries.some(isTerminal) ? '1' : '0', JSON.stringify(change), ttl.retentionMs, ttl.streamMs],
        ...[keys.channel('stream'), keys.channel('cancel'), keys.channel('timers')],
      ],
    };
  }
}
