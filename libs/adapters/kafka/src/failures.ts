import pRetry from 'p-retry';
import { Failure } from '@conclave/contracts';

/** The log did not do what it was asked. `doing` completes "The event log does not answer." */
export function logUnavailable(doing: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Failure('LOG_UNAVAILABLE', `${doing}: ${why}`, { cause });
}

/** A broker that has just started answers so, wrapped by kafkajs or not, until it has read the groups it coordinates. */
export const groupsAreLoading = (error: unknown): boolean =>
  error instanceof Error &&
  (loadingTypes.has((error as { readonly type?: unknown }).type) || (error.cause !== error && groupsAreLoading(error.cause)));
const loadingTypes = new Set<unknown>(['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE']);

/** Runs a request to the cluster; whatever goes wrong is LOG_UNAVAILABLE. */
export async function onCluster<T>(doing: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw logUnavailable(doing, error);
  }
}

const readRetries = 4;
/** Doubled after every try. */
const firstWaitMs = 100;

/** The same for a request that changes nothing: what kafkajs calls retriable (a leader that moves) is asked again for about three seconds. */
export function readFromCluster<T>(doing: string, request: () => Promise<T>): Promise<T> {
  const shouldRetry = ({ error }: { readonly error: Error }): boolean => (error as { retriable?: boolean }).retriable === true;
  return onCluster(doing, () => pRetry(request, { retries: readRetries, minTimeout: firstWaitMs, shouldRetry }));
}
