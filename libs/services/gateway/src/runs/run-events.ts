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

/** The whole stream of a run as server-sent events with ids; a disconnect does not affect the run. */
@Injectable()
export class RunEvents {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: GatewayOptions,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(STATE) private readonly state: StateStore,
    @Inject(StreamHub) private readonly hub: StreamHub,
    @Inject(Connections) private readonly connections: Connections,
  ) {}

  /**
   * Sends the entries after `after`, with prompts and raw replies if `full`, and a snapshot first if the stream does not hold that
   * position. Throws STORE_* before the head.
   */
  async follow(response: Response, runId: string, after: number, full: boolean): Promise<void> {
    const page = await this.hub.read(runId, after, 1);
    const outside = after > page.last || (page.last > 0 && after + 1 < page.first);
    const snapshot = outside ? await this.snapshot(runId, page) : null;
    // A snapshot covers everything up to its last id, except that a stream always closes with its terminal entry.
    const cursor = snapshot ? Math.max(0, page.ended ? page.last - 1 : page.last) : after;
    response.setHeader('x-run-id', runId);
    const seenAll = page.ended && cursor >= page.last;
    const expired = page.last === 0 && snapshot !== null && snapshot.over;
    this.stream(response, runId, { cursor, first: snapshot ? eventOf(snapshot.event) : '', over: seenAll || expired, full });
  }

  private stream(response: Response, runId: string, { cursor, first, over, full }: Reading): void {
    let following: Following | null = null;
    let closed = false;
    const close = (end: StreamEnd): void => {
      closed = true;
      following?.stop();
      this.options.metrics.onStreamClose('events', end);
    };
    const sse = new Sse(response, this.limits, { drained: () => following?.wake(), tooSlow: () => close('slow') });
    const finish = (events: string, end: StreamEnd): void => {
      if (closed) return;
      close(end);
      sse.end(events);
    };
    this.options.metrics.onStreamOpen('events');
    sse.open(first);
    // The reader has already seen the terminal entry.
    if (over) return finish('', 'finished');
    this.connections.watch(
      response,
      () => {
        if (!closed) close('disconnected');
      },
      () => finish(': the gateway is shutting down, reconnect with Last-Event-ID\n\n', 'shutdown'),
    );
    if (closed) return;
    following = this.hub.follow(
      runId,
      {
        cursor,
        ready: () => sse.ready,
        take: (entries) => {
          const events = entries.map((entry) => eventOf(full ? entry : redacted(entry))).join('');
          if (entries.some(isTerminal)) finish(events, 'finished');
          else sse.send(events);
          if (entries.some(({ kind }) => kind === 'chunk')) this.options.probe?.reached('gateway', 'mid-stream', runId);
        },
        lost: (view) => finish(eventOf(endOf(view)), 'finished'),
        failed: (error) => {
          this.options.logger.error('an event stream failed', { run: runId, error });
          finish(`event: failure\ndata: ${JSON.stringify(errorBody(asFailure(error)))}\n\n`, 'failed');
        },
      },
      true,
    );
    if (closed) following.stop();
  }

  /** The state of the run and the answer so far, from the stream as far as it is kept, otherwise from the stored run. */
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

interface Reading {
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

function eventOf(entry: StreamEntry | Snapshot): string {
  const id = 'id' in entry ? `id: ${entry.id}\n` : '';
  return `${id}event: ${entry.kind}\ndata: ${JSON.stringify(entry)}\n\n`;
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
