import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

const { prototype } = RequestQueue;
const schedule = prototype.scheduleCheckPendingRequests;

/** Looks again only if a request waits. A request that has to wait calls it too. */
function scheduleIfPending(this: RequestQueue): void {
  if (this.pending.length > 0) schedule.call(this);
}

/**
 * Stops an endless loop of kafkajs 2.2.4 (https://github.com/tulios/kafkajs/issues/1704): from its first request on, every connection looks
 * for waiting requests each millisecond, even if there are none, which takes 2 % of a processor.
 */
export function stopIdleLoops(): void {
  prototype.scheduleCheckPendingRequests = scheduleIfPending;
}
