import { deadTopic } from '@conclave/contracts';
import type { Consumption, Delivery, EventLog, HandlerOutcome, Subscription } from '../event-log.js';
import type { StoredRecord } from '../record.js';
import type { RawRecord } from '../record.js';
import { inputTopic, sampleName } from './sample-events.js';

/** One log and the surrounding parts that a test may break. */
export interface EventLogWorld {
  /** The log as the first process sees it. */
  readonly log: EventLog;
  /** The same log and ledger as another process sees them. */
  another(): Promise<EventLog>;
  /** The log's process dies: it commits nothing, does not leave the group, and no longer renews its leases. Resolves at once. */
  crash(log: EventLog): Promise<void>;
  /** Appends a record that no event would produce. */
  publishRaw(record: Pick<RawRecord, 'topic' | 'key' | 'headers' | 'raw'>): Promise<void>;
  /** Makes the delivery ledger of every process stop answering, then answer again. */
  readonly ledgerOutage: { begin(): Promise<void>; end(): Promise<void> };
  /** Cuts every connection between `log` and its broker; new ones succeed. Absent if there are no connections. */
  interrupt?(): void;
  dispose(): Promise<void>;
}

export interface EventLogUnderTest {
  /** A new, empty log with these topics, `dead` and `audit`, with the given number of partitions each (if the log has partitions). */
  open(options: { readonly topics: readonly string[]; readonly partitions: number }): Promise<EventLogWorld>;
  /** Milliseconds after which a missing event counts as a failure; covers the death of a member. Default 10,000. */
  readonly patienceMs?: number;
  /** Milliseconds of a long task; default 1,500. */
  readonly longTaskMs?: number;
  /** Maximum number of records a consumption with 8 handlers may hold; default 200. */
  readonly heldBound?: number;
  /** Promises this adapter does not keep, by their sentence, with the reason. */
  readonly gaps?: Readonly<Record<string, string>>;
}

/** What a test's handlers received, over all members. */
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

  /** Subscribes to the input topic; records each delivery under the member's name before `handle` runs. */
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

  /** A promise a handler can wait for until `open` is called; opens automatically when the test ends. */
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

/** A promise of the port, and the test that checks it. */
export interface LogPromise {
  readonly sentence: string;
  readonly partitions?: number;
  readonly test: (stage: Stage) => Promise<void>;
}
