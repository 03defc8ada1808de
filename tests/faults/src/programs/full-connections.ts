import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Note } from './history-file.js';

/** A request with this header and the value `full` gets a connection whose buffers are full from the beginning, as if its client never read. */
export const connectionHeader = 'x-test-connection';

type Hook = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * The buffers of the operating system take some megabytes, more than the stream of any run: nothing reaches them here, so that the gateway
 * meets a connection that takes no more. The history says how many bytes it kept for it at most.
 */
export const fullConnections =
  (note: Note): Hook =>
  (request, response, next) => {
    if (request.headers[connectionHeader] !== 'full') return next();
    const { socket } = request;
    socket.cork();
    let kept = 0;
    after(response, (taken) => {
      kept = Math.max(kept, socket.writableLength);
      return taken;
    });
    response.once('close', () => note({ actor: 'gateway', op: 'full-connection', phase: 'closed', id: request.url ?? '', data: { kept } }));
    next();
  };

/** Without `backpressure` no write says that the client is behind. */
export const withoutBackpressure: Hook = (_request, response, next) => {
  after(response, () => true);
  next();
};

/** Changes what each write of a response returns. */
function after(response: ServerResponse, returned: (taken: boolean) => boolean): void {
  const write = response.write.bind(response) as (...args: readonly unknown[]) => boolean;
  response.write = (...args: readonly unknown[]) => returned(write(...args));
}
