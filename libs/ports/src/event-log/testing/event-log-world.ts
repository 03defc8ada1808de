import { deadTopic } from '@conclave/contracts';
import type { Consumption, Delivery, EventLog, HandlerOutcome, Subscription } from '../event-log.js';
import type { StoredRecord } from '../record.js';
import type { RawRecord } from '../record.js';
import { inputTopic, sampleName } from './sample-events.js';

/** One log and everything around it that a test may break. */
export interface EventLogWorld {
  /** The log as a first process sees it. */
  readonly log: EventLog;
  /** The same log and the same ledger as one more process sees them. */
  another(): Promise<EventLog>;
  /** The process of this log dies: nothing is committed, nobody says goodbye, its leases are renewed no more. Resolves at once. */
  crash(log: EventLog): Promise<void>;
  /** Appends what no event would become. */
  publishRaw(record: Pick<RawRecord, 'topic' | 'key' | 'headers' | 'raw'>): Promise<void>;
  /** The delivery ledger of every process stops answering, and answers again. */
  readonly ledgerOutage: { begin(): Promise<void>; end(): Promise<void> };
  /** Cuts every connection between `log` and its broker in this moment; new ones succeed. Absent where there are none. */
  interrupt?(): void;
  dispose(): Promise<void>;
}

export interface EventLogUnderTest {
  /** A new, empty log with these topics, `dead` and `audit`, each of so many partitions (where there are any). */
  open(options: { readonly topics: readonly string[]; readonly partitions: number }): Promise<EventLogWorld>;
  /** Milliseconds after which something that must happen counts as never happening; covers the death of a member. Default 10,000. */
  readonly patienceMs?: number;
  /** Milliseconds of a long task; default 1,500. */
  readonly longTaskMs?: number;
  /** Records a consumption with 8 handlers may hold at most; default 200. */
  readonly heldBound?: number;
  /** Promises this adapter does not make, by their sentence, with the reason. */
  readonly gaps?: Readonly<Record<string, string>>;
}

/** What the handlers of a test saw, over all members. */
export class Seen {
  readonly deliveries: { readonly name: string; readonly attempt: number; readonly member: string; readonly at: number }[] = [];

  note(delivery: Delivery, member = 'only'): string {
    const name = sampleName(delivery.event);
    this.deliveries.push({ name, attempt: delivery.attempt, member, at: Date.now() });
    return name;
  }

  /** Names in the order of their first delivery. */
  get names(): readonly string[] {
    return [...new Set(this.deliveries.map(({ name }) => name))];
  }

  times(name: string): number {
    return this.deliveries.filter((delivery) => delivery.name === name).length;
  }
}

/** Everything one test of the suite works with. */
export class Stage {
  readonly group = `group-${Math.random().toString(36).slice(2, 10)}`;
  readonly seen = new Seen();
  private readonly releases: (() => void)[] = [];

  constructor(
    readonly world: EventLogWorld,
    readonly patienceMs: number,
    readonly longTaskMs: number,
    readonly heldBound: number,
  ) {}

  get log(): EventLog {
    return this.world.log;
  }

  /** Subscribes to the input topic; deliveries are noted under the name of the member before `handle` runs. */
  consume(
    handle: (delivery: Delivery, name: string) => Promise<HandlerOutcome>,
    part: Partial<Subscription> & { log?: EventLog; member?: string } = {},
  ): Promise<Consumption> {
    const { log = this.log, member = 'only', ...rest } = part;
    return log.subscribe({
      group: this.group,
      topics: [inputTopic],
      concurrency: 8,
      graceMs: 2000,
      handle: (delivery) => handle(delivery, this.seen.note(delivery, member)),
      ...rest,
    });
  }

  /** A promise for a handler to stand in until `open` is called; it opens by itself when the test is over. */
  gate(): { readonly passed: Promise<void>; open(): void } {
    let open!: () => void;
    const passed = new Promise<void>((resolve) => (open = resolve));
    this.releases.push(open);
    return { passed, open };
  }

  async until(what: string, holds: () => boolean | Promise<boolean>, ms = this.patienceMs): Promise<void> {
    const end = Date.now() + ms;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`Not within ${ms} ms: ${what}. Seen: ${JSON.stringify(this.seen.deliveries.slice(-20))}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async lag(log = this.log): Promise<number> {
    const lags = await log.lag(this.group);
    return lags.reduce((sum, { records }) => sum + records, 0);
  }

  async stored(topic: string, log = this.log): Promise<StoredRecord[]> {
    const records: StoredRecord[] = [];
    for await (const record of log.read(topic)) records.push(record);
    return records;
  }

  dead(log = this.log): Promise<StoredRecord[]> {
    return this.stored(deadTopic, log);
  }

  async end(): Promise<void> {
    for (const open of this.releases) open();
    await this.world.dispose();
  }
}

/** A promise of the port, and the test that it is kept. */
export interface LogPromise {
  readonly sentence: string;
  readonly partitions?: number;
  readonly test: (stage: Stage) => Promise<void>;
}
