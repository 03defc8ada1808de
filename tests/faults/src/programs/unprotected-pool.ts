import { Failure, isOutage, type Event, type Mode, type TaskDispatched } from '@conclave/contracts';
import type { Delivery, DeliveryKey, DeliveryLedger, DeliveryPoolOptions, PoolChange } from '@conclave/ports';
import { overlooking } from './overlooking.js';
import type { Protections } from './protections.js';

/** Switches off protections of delivery pools; null if all of them are on. */
export function unprotectedPool(off: Protections, mode: Mode): PoolChange | null {
  const changes: PoolChange[] = [];
  // On Kafka the ledger does not hold positions: the consumption itself commits them too early.
  if (off.has('offset-tracker') && mode === 'embedded') changes.push(doneAtHandOver);
  if (off.has('dead-letters')) changes.push(droppingLetters);
  if (off.has('outage-pause')) changes.push(blamingRecords);
  if (off.has('store-refusals')) changes.push(countingAnyhow);
  if (off.has('process-deaths')) changes.push(ignoringDeaths);
  if (off.has('deadline-check')) changes.push(neverTooLate);
  return changes.length === 0 ? null : (options) => changes.reduce((changed, change) => change(changed), options);
}

/** The embedded ledger moves the cursor when a record is done: here before its handler runs. */
function doneAtHandOver(options: DeliveryPoolOptions): DeliveryPoolOptions {
  const { ledger } = options;
  const attempts = new Map<string, number>();
  return {
    ...options,
    ledger: {
      unended: async (delivery) => ledger.unended?.(delivery) ?? 0,
      begin: async (delivery) => {
        await ledger.begin(delivery);
        await ledger.done(delivery);
        const attempt = (attempts.get(delivery.record) ?? 0) + 1;
        attempts.set(delivery.record, attempt);
        return { attempts: attempt, deaths: 0, suspects: 0 };
      },
      failed: async () => {},
      released: async () => {},
      done: async ({ record }) => void attempts.delete(record),
    },
  };
}

function droppingLetters(options: DeliveryPoolOptions): DeliveryPoolOptions {
  const { onDead: _dropped, ...subscription } = options.subscription;
  return { ...options, subscription, publishDead: async () => {} };
}

/** Counts an outage of handler, ledger or publishing as a failure of the record, locally if the ledger does not answer. */
function blamingRecords(options: DeliveryPoolOptions): DeliveryPoolOptions {
  const { subscription, publish } = options;
  return {
    ...options,
    subscription: { ...subscription, handle: (delivery) => blame(async () => subscription.handle(delivery)) },
    publish: (events) => blame(() => publish(events)),
    ledger: forgivingLedger(options.ledger),
  };
}

function forgivingLedger(ledger: DeliveryLedger): DeliveryLedger {
  const attempts = new Map<string, number>();
  const unlessAway = async <T>(ask: () => Promise<T>, instead: T): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      if (!isOutage(error)) throw error;
      return instead;
    }
  };
  return {
    unended: (delivery) => unlessAway(async () => ledger.unended?.(delivery) ?? 0, 0),
    begin: async (delivery) => {
      const known = attempts.get(delivery.record) ?? 0;
      const begun = await unlessAway(() => ledger.begin(delivery), { attempts: 0, deaths: 0, suspects: 0 });
      const now = Math.max(begun.attempts, known + 1);
      attempts.set(delivery.record, now);
      return { ...begun, attempts: now };
    },
    failed: (delivery) => unlessAway(() => ledger.failed(delivery), undefined),
    released: (delivery) => {
      attempts.set(delivery.record, Math.max(0, (attempts.get(delivery.record) ?? 0) - 1));
      return unlessAway(() => ledger.released(delivery), undefined);
    },
    done: async (delivery: DeliveryKey) => {
      await ledger.done(delivery);
      attempts.delete(delivery.record);
    },
  };
}

/** A ledger that has no room counts the record as begun and ended. */
function countingAnyhow(options: DeliveryPoolOptions): DeliveryPoolOptions {
  const { ledger } = options;
  const unlessFull = <T>(write: () => Promise<T>, instead: T): Promise<T> => overlooking('STORE_FULL', write, instead);
  return {
    ...options,
    ledger: {
      unended: async (delivery) => ledger.unended?.(delivery) ?? 0,
      begin: (delivery) => unlessFull(() => ledger.begin(delivery), { attempts: 1, deaths: 0, suspects: 0 }),
      failed: (delivery) => unlessFull(() => ledger.failed(delivery), undefined),
      released: (delivery) => unlessFull(() => ledger.released(delivery), undefined),
      done: (delivery) => unlessFull(() => ledger.done(delivery), undefined),
    },
  };
}

async function blame<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isOutage(error) ? new Failure('INTERNAL', 'An outage, counted as a failure of the record.', { cause: error }) : error;
  }
}

const ignoringDeaths: PoolChange = (options) => ({
  ...options,
  subscription: { ...options.subscription, retry: { ...options.subscription.retry, processDeaths: Infinity } },
});

/** Every task appears to have arrived in time. */
const neverTooLate: PoolChange = (options) => {
  const { subscription } = options;
  return { ...options, subscription: { ...subscription, handle: (delivery) => subscription.handle(inTime(delivery)) } };
};

function inTime(delivery: Delivery): Delivery {
  if (delivery.event.type !== 'TaskDispatched') return delivery;
  const task = delivery.event as TaskDispatched;
  const event: Event = { ...task, data: { ...task.data, startBy: Number.MAX_SAFE_INTEGER } };
  return { ...delivery, event };
}
