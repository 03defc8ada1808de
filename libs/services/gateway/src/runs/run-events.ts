import { Inject, Injectable } from '@nestjs/common';
import { errorBody, isTerminal, type RunView, type Snapshot, type StreamEntry } from '@conclave/contracts';
import { STATE, type StateStore, type StreamPage } from '@conclave/ports';
import type { Response } from 'express';
import { AnswerText } from '../chat/answer-text.js';
import { asFailure } from '../http/failure-response.js';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions, type StreamEnd } from '../options.js';
import { Connections } from '../stream/connections.js';
import { Sse } from '../stream/sse.js';
import { type Following, StreamHub } from '../stream/stream-hub.js';

const pageSize = 500;

/** A run to follow: the entries after `after`, with prompts and raw replies if `full`. */
export interface Followed {
  readonly runId: string;
  readonly after: number;
  readonly full: boolean;
}

/** Streams of runs as server-sent events; a disconnect does not affect a run. */
@Injectable()
export class RunEvents {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(StreamHub) private readonly hub: StreamHub,
    @Inject(Connections) private readonly connections: Connections,
  ) {}

  /** Sends the entries of one run, with their ids. A snapshot comes first if the stream does not hold that position. Throws STORE_* before the head. */
  async follow(response: Response, run: Followed): Promise<void> {
    const reading = await this.reading(run);
    response.setHeader('x-run-id', run.runId);
    this.stream(response, [reading], (_runId, entry) => eventOf(entry));
  }

  /**
   * Sends the entries of several runs as they arrive, each with the id of its run, and ends when all of these runs have ended. Snapshots come
   * first, as in `follow`. Throws STORE_* before the head.
   */
  async followAll(response: Response, runs: readonly Followed[]): Promise<void> {
    const readings = await Promise.all(runs.map((run) => this.reading(run)));
    this.stream(response, readings, (runId, entry) => eventOf(entry, runId));
  }

  /** The position from which the stream of a run is read. */
  private async reading({ runId, after, full }: Followed): Promise<StreamPosition> {
    const page = await this.hub.read(runId, after, 1);
    const outside = after > page.last || (page.last > 0 && after + 1 < page.first);
    const snapshot = outside ? await this.snapshot(runId, page) : null;
    // A snapshot covers everything up to its last id, except that a stream always closes with its terminal entry.
    const cursor = snapshot ? Math.max(0, page.ended ? page.last - 1 : page.last) : after;
    const seenAll = page.ended && cursor >= page.last;
    const expired = page.last === 0 && snapshot !== null && snapshot.over;
    return { runId, cursor, first: snapshot ? eventOf(snapshot.event) : '', over: seenAll || expired, full };
  }

  private stream(response: Response, readings: readonly StreamPosition[], frame: (runId: string, entry: StreamEntry) => string): void {
    const followings = new Set<Following>();
    const unfinished = new Set(readings.filter(({ over }) => !over).map(({ runId }) => runId));
    let closed = false;
    const close = (end: StreamEnd): void => {
      closed = true;
      for (const following of followings) following.stop();
      this.options.metrics.onStreamClose('events', end);
    };
    const woken = (): void => {
      for (const following of followings) following.wake();
    };
    const sse = new Sse(response, this.limits, { drained: woken, tooSlow: () => close('slow') });
    const finish = (events: string, end: StreamEnd): void => {
      if (closed) return;
      close(end);
      sse.end(events);
    };
    /** The last events of a run; the stream ends with those of the last run. */
    const runEnds = (runId: string, events: string): void => {
      unfinished.delete(runId);
      if (unfinished.size === 0) finish(events, 'finished');
      else sse.send(events);
    };
    this.options.metrics.onStreamOpen('events');
    sse.open(readings.map(({ first }) => first).join(''));
    // The reader has already seen the terminal entries.
    if (unfinished.size === 0) return finish('', 'finished');
    this.connections.watch(
      response,
      () => {
        if (!closed) close('disconnected');
      },
      () => finish(': the gateway is shutting down, reconnect with Last-Event-ID\n\n', 'shutdown'),
    );
    for (const { runId, cursor, full } of readings.filter(({ over }) => !over)) {
      if (closed) return;
      const following = this.hub.follow(
        runId,
        {
          cursor,
          ready: () => sse.ready,
          take: (entries) => {
            const events = entries.map((entry) => frame(runId, full ? entry : redacted(entry))).join('');
            if (entries.some(isTerminal)) {
              following.stop();
              runEnds(runId, events);
            } else sse.send(events);
            if (entries.some(({ kind }) => kind === 'chunk')) this.options.probe?.reached('gateway', 'mid-stream', runId);
          },
          lost: (view) => {
            following.stop();
            runEnds(runId, eventOf(endOf(view)));
          },
          failed: (error) => {
            this.options.logger.error('an event stream failed', { run: runId, error });
            finish(`event: failure\ndata: ${JSON.stringify(errorBody(asFailure(error)))}\n\n`, 'failed');
          },
        },
        true,
      );
      followings.add(following);
    }
  }

  /** The state of the run and the answer so far, from the stream as far as it is stored, otherwise from the run's record. */
  private async snapshot(runId: string, { first, last }: StreamPage): Promise<{ readonly event: Snapshot; readonly over: boolean }> {
    const stored = await this.state.runs.read(runId);
    const view = stored?.terminal ? this.options.describeRun(stored.state) : null;
    const text = view ? (view.answer ?? '') : await this.draft(runId, first, last);
    return { event: { kind: 'snapshot', runId, first, last, status: stored?.status ?? 'accepted', text }, over: view !== null };
  }

  private async draft(runId: string, first: number, last: number): Promise<string> {
    const text = new AnswerText();
    let at = Math.max(0, first - 1);
    while (at < last) {
      const { entries } = await this.hub.read(runId, at, pageSize);
      if (entries.length === 0) break;
      for (const entry of entries) text.take(entry);
      at = entries.at(-1)!.id;
    }
    return text.soFar;
  }
}

interface StreamPosition {
  readonly runId: string;
  readonly cursor: number;
  /** Event to send before the entries, or an empty text. */
  readonly first: string;
  /** True when the reader has seen everything. */
  readonly over: boolean;
  readonly full: boolean;
}

/** The entry without fields that hold a prompt or a raw reply. */
export function redacted(entry: StreamEntry): StreamEntry {
  if (entry.kind === 'thought') return { ...entry, detail: null };
  if (entry.kind !== 'progress') return entry;
  const { detail: _detail, ...rest } = entry;
  return rest;
}

/** One event: with its id, so that a reader can resume from it; or, among those of several runs, with the id of its run. */
function eventOf(entry: StreamEntry | Snapshot, runId: string | null = null): string {
  const id = runId === null && 'id' in entry ? `id: ${entry.id}\n` : '';
  return `${id}event: ${entry.kind}\ndata: ${JSON.stringify(runId === null ? entry : { ...entry, runId })}\n\n`;
}

/** The single event of a stream that has expired and cannot be resumed: how the run ended. */
const endOf = (view: RunView): Snapshot => ({
  kind: 'snapshot',
  runId: view.id,
  first: 0,
  last: 0,
  status: view.status,
  text: view.answer ?? '',
});
