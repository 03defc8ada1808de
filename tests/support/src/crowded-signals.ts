import { getEventListeners, getMaxListeners } from 'node:events';

/**
 * Watches from now on how many listeners an abort signal has at a time: `crowded` returns the largest number that Node would warn
 * about (more than the limit of the signal, 10 by default), or 0. `stop` must be called.
 */
export function watchSignals(): { crowded(): number; stop(): void } {
  const add = Object.getOwnPropertyDescriptor(EventTarget.prototype, 'addEventListener')!;
  let most = 0;
  Object.defineProperty(EventTarget.prototype, 'addEventListener', {
    ...add,
    value: function (this: EventTarget, ...parameters: Parameters<EventTarget['addEventListener']>): void {
      (add.value as EventTarget['addEventListener']).apply(this, parameters);
      if (!(this instanceof AbortSignal)) return;
      const limit = getMaxListeners(this);
      const listeners = getEventListeners(this, 'abort').length;
      // Signals of Node 24 have no limit.
      if (limit > 0 && listeners > limit) most = Math.max(most, listeners);
    },
  });
  return { crowded: () => most, stop: () => void Object.defineProperty(EventTarget.prototype, 'addEventListener', add) };
}
