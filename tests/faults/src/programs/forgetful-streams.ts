import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RunStream } from '@conclave/ports';

const followsRun = /^\/v1\/runs\/([^/?]+)\/events(?:\?|$)/;

/**
 * With WITHOUT_PROTECTION=stream-resume a client that resumes with Last-Event-ID starts at the current end of the stream
 * instead of where it left off.
 */
export const forgetfulStreams =
  (stream: RunStream) =>
  (request: IncomingMessage, _response: ServerResponse, next: (error?: unknown) => void): void => {
    const runId = followsRun.exec(request.url ?? '')?.[1];
    const cameBack = Number(request.headers['last-event-id'] ?? 0) > 0;
    if (runId === undefined || !cameBack) return next();
    stream.read(runId, 0, 0).then(({ last }) => {
      request.headers['last-event-id'] = String(last);
      next();
    }, next);
  };
