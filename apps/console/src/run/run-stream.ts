import type { Snapshot, StreamEntry } from '@conclave/contracts';
import { createParser } from 'eventsource-parser';
import { ApiError, request } from '../api/client.js';
import { gateway } from '../api/gateway-state.js';

/** What the page that reads tells the others of a run. */
export type RunNews =
  /** Entries behind the entry `after`: a page that has not come as far leaves them out and asks for what is between. */
  | { readonly kind: 'entries'; readonly runId: string; readonly after: number; readonly entries: readonly StreamEntry[] }
  | { readonly kind: 'snapshot'; readonly runId: string; readonly snapshot: Snapshot }
  | { readonly kind: 'refused'; readonly runId: string; readonly status: number; readonly code: string; readonly message: string }
  | { readonly kind: 'live' | 'lost'; readonly runId: string };

type Told =
  | RunNews
  /** A page wants the entries of a run behind this one. */
  | { readonly kind: 'follow'; readonly runId: string; readonly after: number }
  /** A page no longer shows a run. */
  | { readonly kind: 'left' }
  /** A page begins to read, and asks all pages what they want. */
  | { readonly kind: 'roll-call' };

/** A run that is shown on this page and has not ended. */
export interface Follower {
  readonly runId: string;
  /** Number of the last entry it has. */
  last(): number;
  take(news: RunNews): void;
  /** `waiting` for the page that reads, or `resting` while this page is hidden. */
  pauses(state: 'waiting' | 'resting'): void;
}

/** Most runs of one stream; the gateway takes no more. */
const mostRuns = 50;
const firstDelayMs = 500;
const longestDelayMs = 10_000;
/** Milliseconds in which pages answer a roll call, and in which several wishes become one new stream. */
const gatherMs = 30;
/** Least milliseconds between two requests of a page for entries that it has missed. */
const askAgainMs = 1_000;

const readingLock = 'conclave-stream';
const runLock = 'conclave-run-';

/**
 * The one stream of a browser. Of all its visible pages one, which holds a lock, reads the runs of all of them on one connection and tells
 * the others what comes: a browser has six connections to a server over HTTP/1.1, whatever the number of its tabs. A page that is hidden
 * neither reads nor follows. After a break each run goes on behind the last entry that its pages have.
 *
 * Browsers know locks only on https and on this machine; elsewhere each page has a stream of its own.
 */
class RunStream {
  private readonly locks: LockManager | undefined = navigator.locks;
  private readonly channel = this.locks ? new BroadcastChannel('conclave-runs') : null;
  private readonly followers = new Map<string, Follower>();
  /** By run: lets its lock go. */
  private readonly shown = new Map<string, () => void>();
  /** This page's turn to read, or its wait for it. */
  private turn: AbortController | null = null;
  /** While this page reads: where it stands in each run, and runs that have no more to say. */
  private readonly places = new Map<string, number>();
  private readonly over = new Set<string>();
  /** While this page reads: makes it ask anew for what the pages want. */
  private reopen: (() => void) | null = null;
  private moved = false;
  private asked = 0;

  constructor() {
    if (this.channel) this.channel.onmessage = ({ data }: MessageEvent<Told>) => this.told(data);
    document.addEventListener('visibilitychange', () => {
      for (const follower of this.followers.values()) this.attend(follower);
      this.takeTurn();
    });
  }

  join(follower: Follower): void {
    this.followers.set(follower.runId, follower);
    this.attend(follower);
    this.takeTurn();
  }

  /** `ended`: as the page that reads has said itself. */
  leave({ runId }: Follower, ended = false): void {
    if (!this.followers.delete(runId)) return;
    this.letGo(runId, ended);
    this.takeTurn();
  }

  /** Shows to the page that reads which run is followed, for as long as this page is visible. */
  private attend(follower: Follower): void {
    const { runId } = follower;
    if (document.visibilityState === 'hidden') {
      this.letGo(runId);
      return follower.pauses('resting');
    }
    if (this.shown.has(runId)) return;
    follower.pauses('waiting');
    const gone = new AbortController();
    this.shown.set(runId, () => gone.abort());
    const held = (): Promise<void> =>
      new Promise((resolve) => {
        gone.signal.addEventListener('abort', () => resolve(), { once: true });
        this.ask(follower);
      });
    if (!this.locks) return void held();
    this.locks.request(runLock + runId, { mode: 'shared', signal: gone.signal }, held).catch((error: unknown) => {
      if (!gone.signal.aborted) throw error;
    });
  }

  private letGo(runId: string, ended = false): void {
    this.shown.get(runId)?.();
    if (this.shown.delete(runId) && !ended) this.say({ kind: 'left' });
  }

  private ask(follower: Follower): void {
    this.asked = Date.now();
    this.say({ kind: 'follow', runId: follower.runId, after: follower.last() });
  }

  /** To all pages, this one included. */
  private say(told: Told): void {
    this.channel?.postMessage(told);
    this.told(told);
  }

  private told(told: Told): void {
    switch (told.kind) {
      case 'roll-call':
        for (const runId of this.shown.keys()) this.ask(this.followers.get(runId)!);
        return;
      case 'left':
        return this.reopen?.();
      case 'follow':
        return this.wanted(told);
      case 'entries': {
        const follower = this.followers.get(told.runId);
        if (!follower) return;
        if (told.after <= follower.last()) return follower.take(told);
        if (this.shown.has(told.runId) && Date.now() - this.asked > askAgainMs) this.ask(follower);
        return;
      }
      default:
        this.followers.get(told.runId)?.take(told);
    }
  }

  /** Takes or gives up the turn, as this page is visible and follows something. */
  private takeTurn(): void {
    const wants = document.visibilityState !== 'hidden' && this.followers.size > 0;
    if (!wants) {
      this.turn?.abort();
      this.turn = null;
    } else if (!this.turn) {
      const turn = new AbortController();
      this.turn = turn;
      const read = (): Promise<void> => this.read(turn.signal);
      const ends = this.locks ? this.locks.request(readingLock, { signal: turn.signal }, read) : read();
      ends.catch((error: unknown) => {
        if (!turn.signal.aborted) throw error;
      });
    }
  }

  private wanted({ runId, after }: { readonly runId: string; readonly after: number }): void {
    if (!this.reopen) return;
    this.over.delete(runId);
    if (after >= (this.places.get(runId) ?? Number.POSITIVE_INFINITY)) return;
    this.places.set(runId, after);
    this.reopen();
  }

  /** Reads what the pages of this browser want until this page's turn is over. */
  private async read(turn: AbortSignal): Promise<void> {
    let delay = firstDelayMs;
    this.places.clear();
    this.over.clear();
    this.reopen = () => undefined;
    this.say({ kind: 'roll-call' });
    while (!turn.aborted) {
      await pause(gatherMs, turn);
      const changed = new AbortController();
      this.reopen = () => changed.abort();
      const stop = AbortSignal.any([turn, changed.signal]);
      const runs = await this.runsToRead();
      this.moved = false;
      if (runs.length === 0) await pause(Number.POSITIVE_INFINITY, stop);
      else await this.readOnce(runs, stop);
      const left = runs.filter((runId) => !this.over.has(runId));
      if (stop.aborted || left.length === 0) continue;
      // The end of a stream without the last entries of its runs is a drop, however politely it was closed.
      for (const runId of left) this.say({ kind: 'lost', runId });
      delay = this.moved ? firstDelayMs : Math.min(delay * 2, longestDelayMs);
      await pause(delay, stop, true);
    }
    this.reopen = null;
  }

  /** Runs that a visible page shows and that have more to say. */
  private async runsToRead(): Promise<readonly string[]> {
    const held = (await this.locks?.query())?.held ?? [];
    const shown = this.locks
      ? held.flatMap(({ name = '' }) => (name.startsWith(runLock) ? [name.slice(runLock.length)] : []))
      : [...this.shown.keys()];
    const runs = [...new Set(shown)].filter((runId) => !this.over.has(runId)).slice(0, mostRuns);
    for (const runId of this.places.keys()) if (!runs.includes(runId)) this.places.delete(runId);
    for (const runId of runs) if (!this.places.has(runId)) this.places.set(runId, 0);
    return runs;
  }

  /** One connection, until it ends or `stop` cuts it. What is refused for good is told to the pages. */
  private async readOnce(runs: readonly string[], stop: AbortSignal): Promise<void> {
    try {
      const wanted = runs.map((runId) => `${encodeURIComponent(runId)}:${this.places.get(runId)}`).join(',');
      const response = await request('GET', `/v1/events?runs=${wanted}`, { headers: { accept: 'text/event-stream' }, signal: stop });
      for (const runId of runs) this.say({ kind: 'live', runId });
      let got: (StreamEntry & { readonly runId: string })[] = [];
      const parser = createParser({
        onEvent: ({ event, data }) => {
          if (event === 'failure') return;
          const body = JSON.parse(data) as (StreamEntry & { readonly runId: string }) | Snapshot;
          if (body.kind === 'snapshot') this.pass(body);
          else got.push(body);
        },
      });
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        // Somebody has asked for earlier entries: what follows here would leave a gap.
        if (done || stop.aborted) return;
        parser.feed(value);
        this.passAll(got);
        got = [];
      }
    } catch (error) {
      if (stop.aborted || !(error instanceof ApiError) || !isFinal(error)) return;
      const { status, code, message, param } = error;
      for (const runId of runs.filter((one) => one === param || !runs.includes(param ?? ''))) {
        this.over.add(runId);
        this.say({ kind: 'refused', runId, status, code, message });
      }
    }
  }

  private pass(snapshot: Snapshot): void {
    const { runId, first, last } = snapshot;
    this.moved = true;
    this.places.set(runId, last);
    // The stream of an old run has expired; its record says the rest.
    if (first === 0) this.over.add(runId);
    this.say({ kind: 'snapshot', runId, snapshot });
  }

  private passAll(got: readonly (StreamEntry & { readonly runId: string })[]): void {
    const byRun = new Map<string, StreamEntry[]>();
    for (const { runId, ...entry } of got) {
      const entries = byRun.get(runId) ?? [];
      entries.push(entry as StreamEntry);
      byRun.set(runId, entries);
    }
    for (const [runId, entries] of byRun) {
      const after = this.places.get(runId) ?? 0;
      this.moved = true;
      this.places.set(runId, entries.at(-1)!.id);
      if (entries.some(({ kind }) => kind === 'run.completed')) this.over.add(runId);
      this.say({ kind: 'entries', runId, after, entries });
    }
  }
}

/** Whether the same request would be refused again. */
const isFinal = ({ status }: ApiError): boolean => status >= 400 && status < 500 && status !== 429;

/** Waits that long, but no longer than until `stop`; `healing`: nor until the gateway answers again. */
function pause(ms: number, stop: AbortSignal, healing = false): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      unsubscribe();
      stop.removeEventListener('abort', done);
      resolve();
    };
    const timer = ms === Number.POSITIVE_INFINITY ? undefined : setTimeout(done, ms);
    const unsubscribe = healing ? gateway.subscribe(() => (gateway.isGone() ? undefined : done())) : () => undefined;
    stop.addEventListener('abort', done);
  });
}

/** This page's part in the stream of its browser. */
export const runStream = new RunStream();
