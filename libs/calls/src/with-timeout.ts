import { Failure, isOutage } from '@conclave/contracts';

/**
 * Performs an action that may not know our failures or its signal: throws CALL_CANCELLED as soon as `outer` aborts, CALL_TIMEOUT after
 * `timeoutMs`, and the action's own errors before that.
 */
export async function withTimeout<T>(perform: (signal: AbortSignal) => Promise<T>, outer: AbortSignal, timeoutMs: number): Promise<T> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeoutMs);
  const signal = AbortSignal.any([outer, over.signal]);
  let stop: () => void = () => undefined;
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => reject(outer.aborted ? new Failure('CALL_CANCELLED') : new Failure('CALL_TIMEOUT'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([stopped, perform(signal)]);
  } catch (error) {
    // An aborted client library's error says less than the reason for the abort.
    if (signal.aborted && !isOutage(error)) throw outer.aborted ? new Failure('CALL_CANCELLED') : new Failure('CALL_TIMEOUT');
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
