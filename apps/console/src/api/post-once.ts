import { api, ApiError } from './client.js';

/** A key that no other request has. `crypto.randomUUID` is missing over plain http from another machine. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Requests that got no answer, each with the key under which the gateway may have accepted it. */
const unanswered = new Map<string, string>();

/** Posts what costs something. The same request, sent again because no answer came, is not done twice. Throws ApiError. */
export async function postOnce<T>(path: string, body: object): Promise<T> {
  const request = `${path} ${JSON.stringify(body)}`;
  const key = unanswered.get(request) ?? newKey();
  unanswered.set(request, key);
  try {
    const answer = await api.post<T>(path, body, { 'idempotency-key': key });
    unanswered.delete(request);
    return answer;
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) unanswered.delete(request);
    throw error;
  }
}
