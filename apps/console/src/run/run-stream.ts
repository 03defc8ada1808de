import type { Snapshot, StreamEntry } from '@conclave/contracts';
import { createParser } from 'eventsource-parser';
import { ApiError, request } from '../api/client.js';
import { gateway } from '../api/gateway-state.js';

/** Messages about a run from the page that reads to the others. */
export type RunNews =
  /** Entries after the entry `after`: a page that is further behind ignores them and requests the missing ones. */
  | { readonly kind: 'entries'; readonly runId: string; readonly after: number; readonly entries: readonly StreamEntry[] }
  | { readonly kind: 'snapshot'; readonly runId: string; readonly snapshot: Snapshot }
  | { readonly kind: 'refused'; readonly runId: string; readonly status: number; readonly code: string; readonly message: string }
  | { readonly kind: 'live' | 'lost'; readonly runId: string };

type Told =
  | RunNews
  /** A page requests the entries of a run after this one. */
  | { readonly kind: 'follow'; readonly runId: string; readonly after: number }
  /** A page no longer shows a run. */
  | { readonly kind: 'left' }
  /** A page starts to read and asks all pages for their runs. */
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

/** Most runs in one stream; the gateway accepts no more. */
const mostRuns = 50;
const firstDelayMs = 500;
const longestDelayMs = 10_000;
/** Milliseconds in which pages answer a roll call, and in which several requests are combined into one new stream. */
const gatherMs = 30;
/** Minimum milliseconds between two requests of a page for missed entries. */
const askAgainMs = 1_000;

const readingLock = 'conclave-stream';
const runLock = 'conclave-run-';

/**
 * The single stream of a browser. Of all its visible pages, the one that holds a lock reads the runs of all of them on one connection and passes on
 * what arrives: a browser has six connections to a server over HTTP/1.1, whatever the number of its tabs. A hidden page neither reads nor follows.
 * After an interruption each run continues after the last entry that its pages have.
 *
 * Browsers provide locks only on https and on this machine; elsewhere each page has its own stream.
 */
class BrowserStream {
  private readonly locks: LockManager | undefined = navigator.locks;
  private readonly channel = this.locks ? new BroadcastChannel('conclave-runs') : null;
  private readonly followers = new Map<string, Follower>();
  /** By run: releases its lock. */
  private readonly shown = new Map<string, () => void>();
  /** This page's turn to read, or its wait for it. */
  private turn: AbortController | null = null;
  /** While this page reads: its position in each run, and runs without further entries. */
  private readonly places = new Map<string, number>();
  private readonly over = new Set<string>();
  /** While this page reads: makes it request again what the pages need. */
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

  /** `ended`: according to the page that reads. */
  leave({ runId }: Follower, ended = false): void {
    if (!this.followers.delete(runId)) return;
    this.letGo(runId, ended);
    this.takeTurn();
  }

  /** Tells the page that reads which run is followed, for as long as this page is visible. */
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

  /** Sends to all pages, including this one. */
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

  /** Takes or gives up the turn, depending on whether this page is visible and follows a run. */
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

  /** Reads what the pages of this browser need until this page's turn is over. */
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
      // The end of a stream without the last entries of its runs is a lost connection, even if it was closed normally.
      for (const runId of left) this.say({ kind: 'lost', runId });
      delay = this.moved ? firstDelayMs : Math.min(delay * 2, longestDelayMs);
      await pause(delay, stop, true);
    }
    this.reopen = null;
  }

  /** Runs that a visible page shows and that have further entries. */
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

  /** One connection, until it ends or `stop` cuts it. Permanent refusals are passed on to the pages. */
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
        // A page has requested earlier entries: continuing here would leave a gap.
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
    // The stream of an old run has expired; its record contains the rest.
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

/** Waits that long, or until `stop`; with `healing`, also until the gateway answers again. */
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

/** This page's part in the browser's stream. */
export const runStream = new BrowserStream();
