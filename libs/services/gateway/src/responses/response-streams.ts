import { Inject, Injectable } from '@nestjs/common';
import { type Caller, isTerminal } from '@conclave/contracts';
import type { Response } from 'express';
import { GATEWAY_LIMITS, GATEWAY_OPTIONS, type GatewayLimits, type GatewayOptions, type StreamEnd } from '../options.js';
import { Connections } from '../stream/connections.js';
import { Sse } from '../stream/sse.js';
import { type Following, StreamHub } from '../stream/stream-hub.js';
import { begun, eventsOf, eventText, type Unnumbered } from './response-events.js';
import { ResponseViews, type Standing } from './response-views.js';

/** Stored responses as streams of events. The stream of a response in progress ends with it; its client may disconnect and come back. */
@Injectable()
export class ResponseStreams {
  constructor(
    @Inject(GATEWAY_OPTIONS) private readonly options: Pick<GatewayOptions, 'metrics' | 'logger'>,
    @Inject(GATEWAY_LIMITS) private readonly limits: GatewayLimits,
    @Inject(ResponseViews) private readonly views: ResponseViews,
    @Inject(StreamHub) private readonly hub: StreamHub,
    @Inject(Connections) private readonly connections: Connections,
  ) {}

  /**
   * Sends the events after number `after`, -1 for all; always includes the last event, so that no client waits for an end that it has missed.
   * Throws RESPONSE_NOT_FOUND, STORE_* before the head.
   */
  async send(response: Response, id: string, caller: Caller, after: number): Promise<void> {
    const standing = await this.views.standing(id, caller);
    let following: Following | null = null;
    let closed = false;
    const close = (end: StreamEnd): void => {
      if (closed) return;
      closed = true;
      following?.stop();
      this.options.metrics.onStreamClose('events', end);
    };
    const sse = new Sse(response, this.limits, { drained: () => following?.wake(), tooSlow: () => close('slow') });
    this.options.metrics.onStreamOpen('events');
    const whole = eventsIn(standing);
    if (whole) {
      sse.open('');
      close('finished');
      return sse.end(textOf(whole, Math.min(after + 1, whole.length - 1)));
    }
    const first = begun(standing.stored.head);
    sse.open(textOf(first, after + 1));
    // The response continues, so its stream is cut without an end.
    const cut = (end: StreamEnd): void => {
      close(end);
      sse.cut();
    };
    this.connections.watch(
      response,
      () => close('disconnected'),
      () => cut('shutdown'),
    );
    /** `ended`: whether the run has ended. A run that asked a question may already have the answer and continue. */
    const finish = async (ended: boolean): Promise<void> => {
      const all = eventsIn(await this.views.standing(id, caller));
      if (closed || (!all && !ended)) return;
      if (!all) return cut('failed');
      close('finished');
      sse.end(textOf(all, Math.max(first.length, Math.min(after + 1, all.length - 1))));
    };
    const failed = (error: unknown): void => {
      this.options.logger.error('The stream of a response failed.', { response: id, error });
      cut('failed');
    };
    if (closed) return;
    following = this.hub.follow(
      standing.stored.runId!,
      {
        cursor: 0,
        ready: () => sse.ready,
        take: (entries) => {
          const ended = entries.some(isTerminal);
          if (ended || entries.some(({ kind }) => kind === 'question.asked')) void finish(ended).catch(failed);
        },
        lost: () => void finish(true).catch(failed),
        failed,
      },
      true,
    );
  }
}

/** All events of a response that has ended; null for one in progress. */
const eventsIn = ({ stored, end }: Standing): readonly Unnumbered[] | null =>
  end.status === 'queued' || end.status === 'in_progress' ? null : eventsOf(stored.head, end);

const textOf = (events: readonly Unnumbered[], from: number): string => events.map(eventText).slice(Math.max(0, from)).join('');
