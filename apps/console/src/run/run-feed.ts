import type { StreamEntry } from '@conclave/contracts';
import { ApiError } from '../api/client.js';
import { type LiveRun, RunFold } from './run-fold.js';
import { type Follower, type RunNews, runStream } from './run-stream.js';

/** The state of this page's feed of a run. */
export type FeedState =
  /** The page of this browser that reads is about to start. */
  | 'waiting'
  | 'live'
  /** The connection was lost; it is retried automatically. */
  | 'lost'
  /** The page is hidden and follows nothing. */
  | 'resting'
  | 'ended'
  /** The run does not exist for this reader. */
  | 'refused';

export interface FeedView {
  readonly run: LiveRun;
  readonly state: FeedState;
  readonly error: ApiError | null;
}

/** The events of a run as they arrive over the browser's stream, folded into its current state. */
export class RunFeed implements Follower {
  private readonly fold = new RunFold();
  private readonly kept: StreamEntry[] = [];
  private readonly listeners = new Set<() => void>();
  private state: FeedState = 'waiting';
  private error: ApiError | null = null;
  private view: FeedView;
  private seq = 0;
  private drawing = false;
  private closed = false;

  constructor(readonly runId: string) {
    this.view = { run: this.fold.run(), state: this.state, error: null };
    runStream.join(this);
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
    this.closed = true;
    runStream.leave(this);
  }

  last(): number {
    return this.seq;
  }
  pauses(state: 'waiting' | 'resting'): void {
    this.change(state);
  }

  take(news: RunNews): void {
    switch (news.kind) {
      case 'live':
      case 'lost':
        if (this.state !== 'resting') this.change(news.kind);
        return;
      case 'refused':
        this.error = new ApiError(news.status, news.code, news.message);
        return this.finish('refused');
      case 'snapshot':
        this.fold.takeSnapshot(news.snapshot);
        this.seq = Math.max(this.seq, news.snapshot.last);
        // The stream of an old run has expired; its record contains the rest.
        if (news.snapshot.first === 0) this.finish('ended');
        return this.draw();
      case 'entries':
        if (this.state === 'waiting' || this.state === 'lost') this.change('live');
        for (const entry of news.entries) this.takeOne(entry);
        return this.draw();
    }
  }

  private takeOne(entry: StreamEntry): void {
    const isEnd = entry.kind === 'run.completed';
    // A snapshot covers the last entry of an ended run too, but that entry still follows.
    if (entry.id <= this.seq && !(isEnd && this.state !== 'ended')) return;
    this.seq = entry.id;
    this.kept.push(entry);
    this.fold.take(entry);
    if (isEnd) this.finish('ended');
  }

  private finish(state: 'ended' | 'refused'): void {
    this.change(state);
    runStream.leave(this, true);
  }

  private change(state: FeedState): void {
    if (this.state === 'ended' || this.state === 'refused') return;
    this.state = state;
    this.draw();
  }

  /** All events between two frames cause one new view. */
  private draw(): void {
    if (this.drawing) return;
    this.drawing = true;
    const show = (): void => {
      this.drawing = false;
      if (this.closed) return;
      this.view = { run: this.fold.run(), state: this.state, error: this.error };
      for (const listener of this.listeners) listener();
    };
    // A hidden page gets no frames.
    if (document.visibilityState === 'hidden') setTimeout(show, 0);
    else requestAnimationFrame(show);
  }
}
