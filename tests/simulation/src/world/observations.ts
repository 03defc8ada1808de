import type { CommandAccepted, CommandRequest, Event, FeedbackAccepted, RunErasedView } from '@conclave/contracts';
import { markOf, marksIn } from './marks.js';

/** What a client learns: the reply, the code of a refusal, or `lost` if no try was answered. */
export type Told<T> =
  { readonly kind: 'done'; readonly reply: T } | { readonly kind: 'refused'; readonly code: string } | { readonly kind: 'lost' };

/** One model or tool call that reached the other side: from then on it is paid. */
export interface ObservedCall {
  /** Journal step, `<task or plan>/call/<n>`. */
  readonly step: string;
  readonly attempt: number;
  readonly runId: string;
  readonly process: string;
  readonly startedAt: number;
  endedAt: number | null;
  /** Place in the order of all observations. */
  readonly order: number;
}
export interface ObservedAttempt {
  readonly step: string;
  readonly attempt: number;
  readonly owner: string;
  /** Whether the owner of the previous attempt had a living lease at that moment, according to the lease table and not to the journal. */
  readonly predecessorLived: boolean;
}
export interface ObservedFinish {
  readonly step: string;
  readonly attempt: number;
  readonly answer: 'stored' | 'refused';
  /** Highest attempt begun before it. */
  readonly newest: number;
  readonly order: number;
}
export interface ObservedDeath {
  readonly process: string;
  readonly point: string;
  readonly at: number;
  readonly openRuns: number;
  /** Records held by its handlers, as `<group> <topic>/<partition>/<offset>`. */
  readonly records: readonly string[];
}
/** What a client saw of one run. */
export interface ObservedClient {
  readonly name: string;
  /** Idempotency-Key, hashed with its request; null if it sends none. */
  readonly key: string | null;
  readonly requests: {
    readonly at: number;
    outcome: 'ok' | 'fail' | 'unknown';
    runId: string | null;
    attached: boolean;
    code: string | null;
  }[];
  /** Ids of the entries it received, in order of arrival, over all reconnects, by run. */
  readonly seen: Map<string, number[]>;
  readonly ended: Set<string>;
  /** Runs of which it was told that they were deleted. */
  readonly gone: Set<string>;
  cancelled: boolean;
  finished: boolean;
}

/** What happened, recorded where it happened and independent of the system's own reports. Times are milliseconds since 1970. */
export class Observations {
  /** `<topic> <event id>` of everything that was sent to the log, and of everything it acknowledged. */
  readonly sent = new Set<string>();
  readonly acknowledged = new Set<string>();
  readonly accepted: { readonly runId: string; readonly retryKey: string | null }[] = [];
  readonly retriesFound: { readonly retryKey: string; readonly runId: string | null; readonly expected: string | null }[] = [];
  /** `<run> <event>` of every applied input -> `<topic> <event id>` of the outputs of its step. */
  readonly outputs = new Map<string, readonly string[]>();
  readonly attempts: ObservedAttempt[] = [];
  readonly abandoned = new Set<string>();
  readonly finishes: ObservedFinish[] = [];
  readonly calls: ObservedCall[] = [];
  readonly deaths: ObservedDeath[] = [];
  /** Records that were marked as done although one of their effects was not durable. */
  readonly doneTooEarly: { readonly record: string; readonly missing: string }[] = [];
  /** Timers that were removed although the log had no record of them. */
  readonly timersLost: string[] = [];
  /** Cancel flag or end of a run or task -> time. */
  readonly over = new Map<string, number>();
  /** Items that were ordered, once for each effect. */
  readonly orders: string[] = [];
  /** Ids under which a receiver was notified of the end of a run. */
  readonly told = new Set<string>();
  /** Cached entries in the order of their writing. `runId` is the run that they come from, `ended` whether its end was on the log at that time. */
  readonly kept: { readonly where: string; readonly runId: string; readonly ended: boolean }[] = [];
  /** `<tenant> <key>` of everything that was written to the caches. */
  readonly cacheKeys = new Set<string>();
  /** Document -> the reply to its uploader. */
  readonly documents = new Map<string, 'taken' | 'removed' | 'unknown'>();
  /** Runs that have an owner: one of the clients that asked for them. */
  readonly owned = new Set<string>();
  /** Ratings of a client's run, and the different rating that it gave afterwards. `state`: of the run, as JSON, before them; null if it was deleted. */
  readonly ratings: {
    readonly runId: string;
    readonly tenant: string;
    readonly rating: number;
    readonly told: Told<FeedbackAccepted>;
    readonly other: Told<FeedbackAccepted> | null;
    readonly state: string | null;
  }[] = [];
  /** Deletions; whether the run was open before and after. */
  readonly deletions: {
    readonly runId: string;
    readonly tenant: string;
    readonly wasOpen: boolean;
    readonly isOpen: boolean;
    readonly told: Told<RunErasedView>;
  }[] = [];
  /** Commands for child runs, each from its own actor. */
  readonly directed: {
    readonly runId: string;
    readonly actor: string;
    readonly command: CommandRequest['command'];
    told: Told<CommandAccepted> | null;
  }[] = [];
  /** Runs that a cancel was issued for. */
  readonly cancelsIssued = new Set<string>();
  /** Commands that the engine ignored although their run was open. */
  readonly ignored: string[] = [];
  /** Calls that were begun for a run after its deletion. */
  readonly begunErased: string[] = [];
  /** What someone of another tenant tried, and was told. */
  readonly strange: { readonly what: string; readonly told: Told<unknown> }[] = [];
  /** Mark of a run -> its tenant. */
  readonly tenants = new Map<string, string>();
  /** Prompts that contain a text of another tenant. */
  readonly leaks: { readonly runId: string; readonly mark: string }[] = [];
  readonly clients: ObservedClient[] = [];
  /** Periods in which a process was frozen or its stores were unavailable, so that it could not notice a cancel or an end. */
  readonly excuses: { readonly process: string; readonly from: number; readonly to: number }[] = [];
  /** Number of appended records that are not events and must become dead letters. */
  poison = 0;
  /** Number of ordered observations so far. */
  private order = 0;

  nextOrder(): number {
    this.order += 1;
    return this.order;
  }

  /** A model is about to read a text for a run. */
  read(runId: string, text: string): void {
    const tenant = this.tenants.get(markOf(runId));
    for (const mark of marksIn(text)) if (this.tenants.get(mark) !== tenant) this.leaks.push({ runId, mark });
  }

  send(events: readonly Event[]): void {
    for (const { topic, id } of events) this.sent.add(`${topic} ${id}`);
  }

  acknowledge(events: readonly Event[]): void {
    for (const { topic, id } of events) this.acknowledged.add(`${topic} ${id}`);
  }
}
