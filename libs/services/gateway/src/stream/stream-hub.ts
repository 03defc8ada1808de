import { Inject, Injectable } from '@nestjs/common';
import { Failure, type RunView, type StreamEntry } from '@conclave/contracts';
import { RUN_STREAM, type RunStream, STATE, type StateStore, type StreamPage } from '@conclave/ports';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions } from '../options.js';

/** Entries of one read. */
const pageSize = 500;
/** Milliseconds without a new entry after which the state store is asked whether the run ended without a terminal entry. */
const silenceMs = 10_000;

/** A follower of a run. Called in order, never twice for one id. */
export interface Viewer {
  /** Highest id it has; it wants the entries after that. */
  cursor: number;
  /** False while its client has unread bytes: it is left out of reads until `wake`. */
  ready(): boolean;
  /** `last` is the highest id the stream held when they were read. */
  take(entries: readonly StreamEntry[], last: number): void;
  /** The run has ended but its stream has expired or lost its end. */
  lost(view: RunView): void;
  /** The run was deleted (RUN_ERASED), or `take` threw, which is a bug: reported to the client instead of leaving it waiting. */
  failed(error: unknown): void;
}

/** Handle of a viewer. */
export interface Following {
  /** Reads entries now: the viewer is ready again. */
  wake(): void;
  stop(): void;
}

/** The viewers of one run in this process and the single loop that reads for all of them. */
class Feed {
  readonly viewers = new Set<Viewer>();
  private dirty = false;
  private reading = false;
  private outage = false;
  private lastNews = Date.now();

  constructor(
    private readonly runId: string,
    private readonly hub: StreamHub,
  ) {}

  /** The run may have ended long ago: the first empty read asks the state store at once. */
  suspectEnd(): void {
    this.lastNews = 0;
  }

  /** Reads until there is nothing new, one read at a time. */
  look(): void {
    this.dirty = true;
    if (this.reading) return;
    this.reading = true;
    void this.readAll().finally(() => {
      this.reading = false;
      // A call between the last check and here has only set `dirty`.
      if (this.dirty && this.viewers.size > 0) this.look();
    });
  }

  private async readAll(): Promise<void> {
    while (this.dirty) {
      this.dirty = false;
      const waiting = [...this.viewers].filter((viewer) => viewer.ready());
      if (waiting.length === 0) return;
      const from = Math.min(...waiting.map((viewer) => viewer.cursor));
      try {
        const page = await this.hub.read(this.runId, from, pageSize);
        if (this.outage) this.hub.options.logger.info('run stream is readable again', { run: this.runId });
        this.outage = false;
        this.deliver(page, waiting);
        if (page.entries.length > 0) this.lastNews = Date.now();
        if (page.entries.length >= pageSize || (waiting.some((viewer) => viewer.cursor < page.last) && page.entries.length > 0))
          this.dirty = true;
        else if (Date.now() - this.lastNews > silenceMs || page.last < from) await this.checkEnd(waiting, page);
      } catch (error) {
        // The store is unavailable: heartbeats continue and the next poll retries. The run itself is not affected.
        if (!this.outage) this.hub.options.logger.warn('run stream cannot be read', { run: this.runId, error });
        this.outage = true;
        return;
      }
    }
  }

  private deliver(page: StreamPage, viewers: readonly Viewer[]): void {
    for (const viewer of viewers) {
      const fresh = page.entries.filter((entry) => entry.id > viewer.cursor);
      if (fresh.length === 0 || !this.viewers.has(viewer)) continue;
      viewer.cursor = fresh.at(-1)!.id;
      try {
        viewer.take(fresh, page.last);
      } catch (error) {
        this.viewers.delete(viewer);
        viewer.failed(error);
      }
    }
  }

  private async checkEnd(viewers: readonly Viewer[], page: StreamPage): Promise<void> {
    this.lastNews = Date.now();
    const stored = await this.hub.state.runs.read(this.runId);
    if (!stored && (await this.hub.state.runs.erased(this.runId))) return this.failAll();
    if (!stored?.terminal) return;
    const view = this.hub.options.describeRun(stored.state);
    for (const viewer of viewers) {
      // The end may have been written between the two reads; the next read shows it.
      if (
        viewer.cursor >= page.last &&
        this.viewers.has(viewer) &&
        (await this.hub.read(this.runId, viewer.cursor, 1)).entries.length === 0
      )
        viewer.lost(view);
    }
    this.dirty = true;
  }

  /** The stream of a deleted run is empty, and nothing will be added to it. */
  private failAll(): void {
    for (const viewer of this.viewers) viewer.failed(new Failure('RUN_ERASED'));
    this.viewers.clear();
  }
}

/** All runs that this gateway follows: one hint subscription for all, range reads, and a poll in case hints are lost. */
@Injectable()
export class StreamHub {
  private readonly feeds = new Map<string, Feed>();
  private unsubscribe: (() => Promise<void>) | null = null;
  private poll: NodeJS.Timeout | null = null;

  constructor(
    @Inject(GATEWAY_OPTIONS) readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) readonly state: StateStore,
    @Inject(RUN_STREAM) private readonly stream: RunStream,
  ) {}

  async onModuleInit(): Promise<void> {
    this.unsubscribe = await this.state.hints.subscribe('stream', (runId) => this.feeds.get(runId)?.look());
    this.poll = setInterval(() => {
      for (const feed of this.feeds.values()) feed.look();
    }, this.limits.pollMs);
  }

  /** Call after the streams have ended, when no connection follows a run. */
  async close(): Promise<void> {
    if (this.poll) clearInterval(this.poll);
    this.poll = null;
    await this.unsubscribe?.();
    this.unsubscribe = null;
    this.feeds.clear();
  }

  read(runId: string, after: number, limit: number): Promise<StreamPage> {
    return this.stream.read(runId, after, limit);
  }

  /** Delivers entries after `viewer.cursor`, immediately and then as they arrive. `known`: the run was not accepted just now. */
  follow(runId: string, viewer: Viewer, known: boolean): Following {
    const feed = this.feeds.get(runId) ?? new Feed(runId, this);
    this.feeds.set(runId, feed);
    feed.viewers.add(viewer);
    if (known) feed.suspectEnd();
    feed.look();
    return {
      wake: () => feed.look(),
      stop: () => {
        feed.viewers.delete(viewer);
        if (feed.viewers.size === 0 && this.feeds.get(runId) === feed) this.feeds.delete(runId);
      },
    };
  }

  /** Number of runs followed here; for tests and metrics. */
  get following(): number {
    return this.feeds.size;
  }
}
