import { type StreamBody, TimerFired, isOutage, makeEvent, timerId } from '@conclave/contracts';
import { overdueTasks, type RunState } from '@conclave/loop';
import { type DueTimer, EVENT_LOG, type EventLog, STATE, type StateStore, isDeferred } from '@conclave/ports';
import { MergerModule } from '@conclave/service-merger';
import { childBugs } from './children.js';
import { keptBugs } from './kept.js';
import { ownerBugs } from './owners.js';
import type { PlantedBug } from './planted-bug.js';

const commitWithoutCompareAndSet: PlantedBug = {
  name: 'commit-without-compare-and-set',
  sentence: 'A commit writes its step without checking the version of the run, so of two steps at the same time one is lost.',
  check: '7 replay',
  plant: () => ({
    stores({ runs }) {
      runs.compareAndSet = (event, version, write) => {
        runs.write(event, version, write);
        return true;
      };
    },
  }),
};

const appliedIdsNotStored: PlantedBug = {
  name: 'applied-ids-not-stored',
  sentence:
    'A commit does not note which event it applied, so a redelivery after a death applies it again and never publishes the outputs of the first step.',
  check: '3 outcomes',
  plant: () => ({
    stores({ runs }) {
      runs.noteApplied = () => undefined;
    },
  }),
};

const journalAcceptsLowerAttempt: PlantedBug = {
  name: 'journal-accepts-lower-attempt',
  sentence: 'The journal stores the outcome of any attempt, so an owner that was taken for dead finishes the call of its successor.',
  check: '6 calls',
  plant: () => ({
    stores({ journal }) {
      journal.finish = async ({ step }, outcome) => {
        const entry = journal.entries.get(step);
        if (!entry) return 'refused';
        entry.outcome ??= JSON.stringify(outcome);
        return 'stored';
      };
    },
  }),
};

const journalIgnoresLeases: PlantedBug = {
  name: 'journal-ignores-leases',
  sentence: 'The journal hands a step that was begun to the next process that asks, without checking whether its owner is alive.',
  check: '6 calls',
  plant: () => ({
    stores({ journal }) {
      const begin = journal.begin.bind(journal);
      journal.begin = (call) => {
        const entry = journal.entries.get(call.step);
        if (entry && entry.outcome === null && entry.nonce !== call.nonce) entry.owner = null;
        return begin(call);
      };
    },
  }),
};

const lostAnswerKeepsStep: PlantedBug = {
  name: 'lost-answer-keeps-step',
  sentence:
    'A step is begun again under a new nonce when the reply to the first try is lost: its own process then finds it busy for as long as it lives.',
  check: '8 nothing left',
  plant: () => ({
    stores({ journal }) {
      const begin = journal.begin.bind(journal);
      let tries = 0;
      // This was a bug of the product, found by this simulation: every try had a new nonce.
      journal.begin = (call) => begin({ ...call, nonce: `${call.nonce}/${(tries += 1)}` });
    },
  }),
};

const doneBeforeEffect: PlantedBug = {
  name: 'done-before-effect',
  sentence:
    'A handler is started and its record is acknowledged at once; its outputs are published when it ends, if its process lives that long.',
  check: '4 durable',
  plant: () => ({
    subscription: (subscription, process) => ({
      ...subscription,
      handle: async (delivery) => {
        const publish = async (): Promise<void> => {
          const outcome = await subscription.handle(delivery);
          if (!isDeferred(outcome)) await process.log.publish(outcome);
        };
        void publish().catch(() => undefined);
        return [];
      },
    }),
  }),
};

const forgottenBeforePublished: PlantedBug = {
  name: 'forgotten-before-published',
  sentence: 'The store is told that outputs are on the log before they are, so after a death in between nobody publishes them.',
  check: '3 outcomes',
  plant: () => ({
    subscription: (subscription, process) => ({
      ...subscription,
      handle: async (delivery) => {
        const outcome = await subscription.handle(delivery);
        if (!isDeferred(outcome)) process.state.published?.(outcome);
        return outcome;
      },
    }),
  }),
};

const publishAcknowledgedEarly: PlantedBug = {
  name: 'publish-acknowledged-early',
  sentence: 'Publishing is acknowledged before the log has the events, as by a producer that waits for no broker.',
  check: '2 appends',
  plant: () => ({ acknowledgesEarly: true }),
};

/** The timer pump with two lines swapped: a timer is removed, then published. */
class HastyTimerPump {
  private readonly stop = new AbortController();

  constructor(
    private readonly state: StateStore,
    private readonly log: EventLog,
  ) {}

  onApplicationBootstrap(): void {
    for (const turn of [() => this.fireDue(), () => this.sweep()]) void this.repeat(turn);
  }

  onApplicationShutdown(): void {
    this.stop.abort();
  }

  private async repeat(turn: () => Promise<void>): Promise<void> {
    while (!this.stop.signal.aborted) await turn().catch(() => new Promise((resolve) => setTimeout(resolve, 500)));
  }

  private async fireDue(): Promise<void> {
    const due = await this.state.timers.due(100);
    if (due.length === 0) return this.state.timers.wait(1_000, this.stop.signal);
    const now = await this.state.now();
    for (const timer of due) {
      await this.state.timers.remove(timer);
      await this.log.publish([await this.fired(timer, now)]);
    }
  }

  private async fired({ runId, arm, dueAt }: DueTimer, now: number) {
    const run = await this.state.runs.read<RunState>(runId);
    const tasks = await Promise.all(
      (run ? overdueTasks(run.state, now) : []).map(async ({ taskId, taskClass }) => ({
        taskId,
        started: await this.state.journal.started(taskId),
        liveWorkers: await this.state.leases.liveWorkers(taskClass),
      })),
    );
    return makeEvent(
      TimerFired,
      { id: timerId(runId, arm), runId, source: 'merger', time: now },
      { runId, arm, dueAt, firedAt: now, tasks },
    );
  }

  private async sweep(): Promise<void> {
    const headers = await this.state.runs.unpublished(5_000, 100);
    if (headers.length > 0) await this.log.publish(headers);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
  }
}
Reflect.defineMetadata?.(
  'self:paramtypes',
  [
    { index: 0, param: STATE },
    { index: 1, param: EVENT_LOG },
  ],
  HastyTimerPump,
);

const timerPump = (MergerModule.register({ storePrompts: 'hash' }).providers ?? []).find(
  (provider) => typeof provider === 'function' && provider.name === 'TimerPump',
);

const timerRemovedBeforePublish: PlantedBug = {
  name: 'timer-removed-before-publish',
  sentence: 'A due timer is removed from the store and then published: a death in between loses it.',
  check: '4 durable',
  plant: () => ({ replaced: new Map([[timerPump, HastyTimerPump]]) }),
};

const cancelNotLevelTriggered: PlantedBug = {
  name: 'cancel-not-level-triggered',
  sentence: 'A cancel is a message instead of a flag: a process that was not listening at that moment never learns of it.',
  check: 'cancel',
  plant: () => ({
    stores({ runs, hints }) {
      const heard = new Set<string>();
      runs.flag = (id) => {
        hints.send('cancel', id);
        heard.add(id);
        // The message can be received for a moment.
        setTimeout(() => heard.delete(id), 50);
      };
      runs.cancelled = async (ids) => new Set(ids.filter((id) => heard.has(id)));
    },
  }),
};

const streamAppendNotIdempotent: PlantedBug = {
  name: 'stream-append-not-idempotent',
  sentence: 'The stream appends every chunk it receives, so a replayed reply is shown a second time after the first.',
  check: '5 stream',
  plant: () => ({
    stores({ stream }) {
      const plan = stream.plan.bind(stream);
      stream.plan = (stored, entries) => {
        const planned = plan(stored, entries);
        return planned.kind === 'refused' ? planned : { ...planned, bodies: [...marks(planned.bodies), ...entries] };
      };
    },
  }),
};

const marks = (bodies: readonly StreamBody[]): readonly StreamBody[] => bodies.filter(({ kind }) => kind === 'superseded');

const supersededNotWritten: PlantedBug = {
  name: 'superseded-not-written',
  sentence: 'A further attempt writes its text without a mark that withdraws what the earlier one showed.',
  check: '5 stream',
  plant: () => ({
    stores({ stream }) {
      const plan = stream.plan.bind(stream);
      stream.plan = (stored, entries) => {
        const planned = plan(stored, entries);
        return planned.kind === 'refused' ? planned : { ...planned, bodies: planned.bodies.filter(({ kind }) => kind !== 'superseded') };
      };
    },
  }),
};

const outageCountedAsFailure: PlantedBug = {
  name: 'outage-counted-as-failure',
  sentence:
    'A handler that meets an outage of our own store fails like any other, so after five tries a good record becomes a dead letter.',
  check: 'dead letters',
  plant: () => ({
    subscription: (subscription) => ({
      ...subscription,
      handle: async (delivery) => {
        try {
          return await subscription.handle(delivery);
        } catch (error) {
          throw isOutage(error) ? new Error('The handler failed.', { cause: error }) : error;
        }
      },
    }),
  }),
};

const retryMappingOverwritten: PlantedBug = {
  name: 'retry-mapping-overwritten',
  sentence:
    'The mapping from a request to its run is overwritten instead of set-if-absent, so a retry is led to the run of a later, equal request.',
  check: 'retries',
  plant: () => ({
    stores({ runs, clock }) {
      runs.mapRetry = (retryKey, runId) => void runs.retries.set(retryKey, { runId, at: clock.now() });
    },
  }),
};

const sweepMissing: PlantedBug = {
  name: 'sweep-missing',
  sentence: 'No process looks for accepted runs whose gateway died before it published them.',
  check: '1 terminal',
  plant: () => ({
    stores({ runs }) {
      runs.unpublished = async () => [];
    },
  }),
};

/** Every bug that can be planted; the check that it names must find it. */
export const plantedBugs: readonly PlantedBug[] = [
  commitWithoutCompareAndSet,
  appliedIdsNotStored,
  journalAcceptsLowerAttempt,
  journalIgnoresLeases,
  lostAnswerKeepsStep,
  doneBeforeEffect,
  forgottenBeforePublished,
  publishAcknowledgedEarly,
  timerRemovedBeforePublish,
  cancelNotLevelTriggered,
  streamAppendNotIdempotent,
  supersededNotWritten,
  outageCountedAsFailure,
  retryMappingOverwritten,
  sweepMissing,
  ...keptBugs,
  ...childBugs,
  ...ownerBugs,
];
