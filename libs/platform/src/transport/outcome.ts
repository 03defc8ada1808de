import { isObservable, lastValueFrom } from 'rxjs';
import type { Event } from '@conclave/contracts';
import { isDeferred, type HandlerOutcome } from '@conclave/ports';

/** What several handlers of one event give, as Nest joins them. */
interface Joined {
  readonly current: unknown;
  readonly next: unknown;
}
const isJoined = (value: unknown): value is Joined => typeof value === 'object' && value !== null && 'current' in value && 'next' in value;
const isEvent = (value: unknown): value is Event =>
  typeof value === 'object' && value !== null && typeof (value as Event).id === 'string' && typeof (value as Event).type === 'string';

/**
 * Waits for what a handler gave (a value, a promise or an observable) and makes it the outcome of the delivery.
 * Nothing at all means no events. When one of several handlers defers, the whole delivery is deferred.
 * Throws TypeError for anything that is neither events nor `defer()`.
 */
export async function settle(result: unknown, handler: string): Promise<HandlerOutcome> {
  const value: unknown = await result;
  const last: unknown = isObservable(value) ? await lastValueFrom(value, { defaultValue: undefined }) : value;
  return toOutcome(last, handler);
}

function toOutcome(value: unknown, handler: string): HandlerOutcome {
  if (value === undefined || value === null) return [];
  if (isJoined(value)) {
    const outcomes = [toOutcome(value.current, handler), toOutcome(value.next, handler)];
    const deferred = outcomes.filter(isDeferred);
    if (deferred.length > 0) return { deferMs: Math.max(...deferred.map(({ deferMs }) => deferMs)) };
    return outcomes.flatMap((outcome) => outcome as readonly Event[]);
  }
  if (Array.isArray(value) && value.every(isEvent)) return value;
  if (typeof value === 'object' && 'deferMs' in value && typeof value.deferMs === 'number') return { deferMs: value.deferMs };
  throw new TypeError(`The handler of ${handler} returned neither a list of events nor defer(ms).`);
}
