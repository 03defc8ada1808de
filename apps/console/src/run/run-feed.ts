import type { Snapshot, StreamEntry } from '@conclave/contracts';
import { createParser } from 'eventsource-parser';
import { ApiError, request } from '../api/client.js';
import { gateway } from '../api/gateway-state.js';
import { type LiveRun, RunFold } from './run-fold.js';

/** How a run's events reach this page. */
export type FeedState =
  /** Another page of this browser reads them, or this one is about to. */
  | 'waiting'
  | 'live'
  /** The connection was lost; it is tried again by itself. */
  | 'lost'
  /** The page is hidden and reads nothing. */
  | 'resting'
  | 'ended'
  /** There is no such run for this reader. */
  | 'refused';

export interface FeedView {
  readonly run: LiveRun;
  readonly state: FeedState;
  readonly error: ApiError | null;
}

type Told = { readonly entries: readonly StreamEntry[] } | { readonly snapshot: Snapshot } | { readonly want: number };

const firstDelayMs = 500;
const longestDelayMs = 10_000;

/**
 * The events of a run. Of all pages of this browser one holds a connection and tells the others, so that many tabs need no more than one of
 * the six connections that a browser has. A page that is hidden gives it up. After a break it goes on behind the last event it has.
 */
export class RunFeed {
  private readonly fold = new RunFold();
  private readonly kept: StreamEntry[] = [];
  private readonly listeners = new Set<() => void>();
  private readonly channel: BroadcastChannel;
  private readonly closing = new AbortController();
  private reading: AbortController | null = null;
  private state: FeedState = 'waiting';
  private error: ApiError | null = null;
  private view: FeedView;
  private last = 0;
  private drawing = false;
  private wake: () => void = () => undefined;

  constructor(private readonly runId: string) {
    this.view = { run: this.fold.run(), state: this.state, error: null };
    this.channel = new BroadcastChannel(`conclave-run-${runId}`);
    this.channel.onmessage = ({ data }: MessageEvent<Told>) => this.told(data);
    document.addEventListener('visibilitychange', this.onVisibility);
    this.channel.postMessage({ want: 0 } satisfies Told);
    this.onVisibility();
  }

  /** All events so far, in the order of their numbers. */
  get entries(): readonly StreamEntry[] {
    return this.kept;
  }
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly current = (): FeedView => this.view;

  close(): void {
    this.closing.abort();
    this.reading?.abort();
    this.channel.close();
    document.removeEventListener('visibilitychange', this.onVisibility);
  }

  private readonly onVisibility = (): void => {
    if (this.isOver()) return;
    if (document.visibilityState === 'hidden') {
      this.reading?.abort();
      this.reading = null;
      this.change('resting');
    } else if (!this.reading) {
      this.reading = new AbortController();
      this.change('waiting');
      void this.takeTurn(this.reading.signal);
    }
  };

  private isOver(): boolean {
    return this.state === 'ended' || this.state === 'refused';
  }

  /** Reads while it holds the lock of this run; otherwise the page that holds it tells what comes. */
  private async takeTurn(signal: AbortSignal): Promise<void> {
    try {
      await navigator.locks.request(`conclave-run-${this.runId}`, { signal }, () => this.read(signal));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  private async read(signal: AbortSignal): Promise<void> {
    let delay = firstDelayMs;
    while (!signal.aborted && !this.isOver()) {
      const before = this.last;
      try {
        await this.readOnce(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) {
          this.error = error;
          this.change('refused');
          return;
        }
      }
      if (signal.aborted || this.isOver()) return;
      this.change('lost');
      // The end of a stream without the last event of its run is a drop, however politely it was closed.
      delay = this.last > before ? firstDelayMs : Math.min(delay * 2, longestDelayMs);
      await this.pause(delay, signal);
    }
  }

  private async readOnce(signal: AbortSignal): Promise<void> {
    const path = `/v1/runs/${encodeURIComponent(this.runId)}/events?after=${this.last}`;
    const response = await request('GET', path, { headers: { accept: 'text/event-stream' }, signal });
    this.change('live');
    const parser = createParser({
      onEvent: ({ event, data }) => {
        if (event === 'failure') return;
        const body = JSON.parse(data) as StreamEntry | Snapshot;
        if (body.kind === 'snapshot') this.tell({ snapshot: body });
        else this.tell({ entries: [body] });
      },
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(value);
    }
  }

  /** Waits, but no longer than until the gateway answers again. */
  private pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(done, ms);
      const stop = gateway.subscribe(() => {
        if (!gateway.isGone()) done();
      });
      this.wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }

  private tell(told: Exclude<Told, { readonly want: number }>): void {
    this.channel.postMessage(told);
    this.take(told);
  }

  private told(told: Told): void {
    if (!('want' in told)) {
      if (this.state === 'waiting') this.change('live');
      return this.take(told);
    }
    const newer = this.kept.filter(({ id }) => id > told.want);
    if (newer.length > 0) this.channel.postMessage({ entries: newer } satisfies Told);
  }

  private take(told: Exclude<Told, { readonly want: number }>): void {
    if ('snapshot' in told) {
      this.fold.takeSnapshot(told.snapshot);
      this.last = Math.max(this.last, told.snapshot.last);
      // The stream of an old run has expired; its record says the rest.
      if (told.snapshot.first === 0) this.change('ended');
      return this.draw();
    }
    for (const entry of told.entries) {
      if (entry.id <= this.last) continue;
      this.last = entry.id;
      this.kept.push(entry);
      this.fold.take(entry);
      if (entry.kind === 'run.completed') this.finish();
    }
    this.draw();
  }

  private finish(): void {
    this.state = 'ended';
    this.wake();
  }

  private change(state: FeedState): void {
    if (this.isOver()) return;
    this.state = state;
    this.draw();
  }

  /** Any number of events between two frames make one new view. */
  private draw(): void {
    if (this.drawing) return;
    this.drawing = true;
    const show = (): void => {
      this.drawing = false;
      if (this.closing.signal.aborted) return;
      this.view = { run: this.fold.run(), state: this.state, error: this.error };
      for (const listener of this.listeners) listener();
    };
    // A hidden page gets no frames.
    if (document.visibilityState === 'hidden') setTimeout(show, 0);
    else requestAnimationFrame(show);
  }
}
