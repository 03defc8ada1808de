import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { RunStream } from '@conclave/ports';
import { forgetfulStreams } from './forgetful-streams.js';

const stream = { read: async () => ({ entries: [], first: 1, last: 7, ended: false }) } as unknown as RunStream;

/** Last-Event-ID as the gateway sees it with the switch on. */
const seen = (url: string, lastEventId?: string): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const request = { url, headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId } } as unknown as IncomingMessage;
    forgetfulStreams(stream)(request, {} as ServerResponse, (error) =>
      error === undefined ? resolve(request.headers['last-event-id'] as string | undefined) : reject(error as Error),
    );
  });

describe('the switch that removes the resume', () => {
  it('sends a returning client to the present end', async () => {
    expect(await seen('/v1/runs/run_1/events', '3')).toBe('7');
    expect(await seen('/v1/runs/run_1/events?after=1', '3')).toBe('7');
  });

  it('does not change first visits and other routes', async () => {
    expect(await seen('/v1/runs/run_1/events')).toBeUndefined();
    expect(await seen('/v1/runs/run_1/events', '0')).toBe('0');
    expect(await seen('/v1/runs/run_1', '3')).toBe('3');
  });
});
