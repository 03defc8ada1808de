import pRetry from 'p-retry';
import { Failure } from '@conclave/contracts';

/** Wraps an error as LOG_UNAVAILABLE; a Failure is returned unchanged. `doing` names the failed action. */
export function logUnavailable(doing: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const why = cause instanceof Error ? reasonOf(cause) : String(cause);
  return new Failure('LOG_UNAVAILABLE', `${doing}: ${why}`, { cause });
}

/**
 * For several topics kafkajs reports only "Topic creation errors"; the helpful part is the reason of each topic, such as a missing right.
 */
function reasonOf(error: Error): string {
  const [first, ...others] = (error as { readonly errors?: readonly (Error & { readonly topic?: string })[] }).errors ?? [];
  if (!first) return error.message;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return `${first.topic ? `${first.topic}: ` : ''}${first.message}${more}`;
}

/** Whether a freshly started broker is still loading its groups; kafkajs may wrap the error. */
export const groupsAreLoading = (error: unknown): boolean =>
  error instanceof Error &&
  (loadingTypes.has((error as { readonly type?: unknown }).type) || (error.cause !== error && groupsAreLoading(error.cause)));
const loadingTypes = new Set<unknown>(['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE']);

/** Runs a request to the cluster. Throws LOG_UNAVAILABLE for every error. */
export async function onCluster<T>(doing: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw logUnavailable(doing, error);
  }
}

const readRetries = 4;
/** Doubled after every attempt. */
const firstWaitMs = 100;

/** Like `onCluster`, for a request that changes nothing: retries errors that kafkajs calls retriable for about three seconds. */
export function readFromCluster<T>(doing: string, request: () => Promise<T>): Promise<T> {
  const shouldRetry = ({ error }: { readonly error: Error }): boolean => (error as { retriable?: boolean }).retriable === true;
  return onCluster(doing, () => pRetry(request, { retries: readRetries, minTimeout: firstWaitMs, shouldRetry }));
}
