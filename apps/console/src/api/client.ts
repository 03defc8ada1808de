import type { ErrorBody } from '@conclave/contracts';
import { gateway } from './gateway-state.js';

/** An unsuccessful answer of the gateway; `status` is 0 when there was no answer. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** Code of the failure table, such as `REQUEST_INVALID`; `GATEWAY_AWAY` when there was no answer. */
    readonly code: string,
    message: string,
    /** The invalid field. */
    readonly param: string | null = null,
  ) {
    super(message);
  }
}

interface Call {
  /** Sent as JSON; a Blob, FormData or text is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

let csrf: string | null = null;
let onSessionLost: () => void = () => undefined;
let onForbidden: () => void = () => undefined;

/**
 * The session gives the client its token and is notified when the gateway no longer knows it, and when it forbids something: the role or the token may
 * have changed.
 */
export function connectSession(lost: () => void, forbidden: () => void): (token: string | null) => void {
  onSessionLost = lost;
  onForbidden = forbidden;
  return (token) => {
    csrf = token;
  };
}

/** Returns the answer of a successful request with its body unread. Throws ApiError. */
export async function request(method: string, path: string, { body, headers, signal }: Call = {}): Promise<Response> {
  const isRaw = typeof body === 'string' || body instanceof Blob || body instanceof FormData;
  const sent: Record<string, string> = { accept: 'application/json', ...headers };
  if (body !== undefined && !isRaw) sent['content-type'] = 'application/json';
  if (csrf !== null && method !== 'GET') sent['x-conclave-csrf'] = csrf;
  const response = await fetch(path, {
    method,
    headers: sent,
    credentials: 'same-origin',
    ...(body === undefined ? {} : { body: isRaw ? (body as BodyInit) : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    gateway.isAway();
    throw new ApiError(0, 'GATEWAY_AWAY', 'The gateway does not answer.');
  });
  gateway.isHere();
  if (response.ok) return response;
  const error = await errorOf(response);
  if (response.status === 401) onSessionLost();
  if (response.status === 403) onForbidden();
  throw error;
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as ErrorBody;
    return new ApiError(response.status, error.code ?? 'UNKNOWN', error.message, error.param ?? null);
  } catch {
    return new ApiError(response.status, 'UNKNOWN', `The gateway answered with status ${response.status}.`);
  }
}

async function json<T>(method: string, path: string, call?: Call): Promise<T> {
  const response = await request(method, path, call);
  return response.status === 204 ? (undefined as T) : ((await response.json()) as T);
}

/** The public HTTP API, by method. Types come from @conclave/contracts. Throws ApiError. */
export const api = {
  get: <T>(path: string, signal?: AbortSignal): Promise<T> => json<T>('GET', path, { signal }),
  post: <T>(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<T> =>
    json<T>('POST', path, { body, ...(headers ? { headers } : {}) }),
  put: <T>(path: string, body?: unknown): Promise<T> => json<T>('PUT', path, { body }),
  patch: <T>(path: string, body?: unknown): Promise<T> => json<T>('PATCH', path, { body }),
  delete: <T>(path: string): Promise<T> => json<T>('DELETE', path),
};
