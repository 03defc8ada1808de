import { APIError } from 'openai/core/error';
import type { RequestInit } from 'undici';
import type { ProviderConfig } from './configuration.js';
import { errorBody, withErrorBody } from './error-body.js';
import { isJson, smallRequest } from './small-request.js';

/** Headers that are sent beside configured ones. The client library adds more, some from environment variables of another account. */
const sentHeaders = ['accept', 'api-key', 'authorization', 'content-type', 'user-agent'];

/** Fetch without timeouts of its own. Imports the HTTP client late, for a faster start. */
const patientFetch: typeof fetch = async (input, init) => {
  const { request } = await import('./connections.js');
  return (await request(input as URL, init as RequestInit)) as unknown as Response;
};

/**
 * A fetch limited to one origin, without redirects, so that a key never reaches another server. Sends only the headers above.
 */
export function fetchWithin({ base_url, headers: added = {} }: ProviderConfig): typeof fetch {
  const { origin } = new URL(base_url);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) throw new TypeError(`A call for ${origin} must not go to ${url.origin}.`);
    const given = new Headers(init?.headers);
    const headers = new Headers();
    for (const name of sentHeaders) {
      const value = given.get(name);
      if (value !== null) headers.set(name, value);
    }
    headers.set('user-agent', 'conclave');
    for (const [name, value] of Object.entries(added)) headers.set(name, value);
    const response = await patientFetch(url, { ...init, headers: [...headers], redirect: 'manual' });
    return response.ok ? response : withErrorBody(response);
  };
}

/**
 * GET of a path beside the model calls; returns JSON, or the text of anything else. Works without the client library, so that a start
 * does not load it. Throws what the library throws.
 */
export async function readBeside(provider: ProviderConfig, path: string, signal: AbortSignal): Promise<unknown> {
  const { base_url, api_key, azure_api_version: version, headers: added } = provider;
  const key: readonly [string, string] = version === undefined ? ['authorization', `Bearer ${api_key}`] : ['api-key', `${api_key}`];
  const url = new URL(`${base_url.replace(/\/$/, '')}/${path}`);
  if (version !== undefined) url.searchParams.set('api-version', version);
  const reply = await smallRequest(url, {
    headers: { accept: 'application/json', ...(api_key === undefined ? {} : { [key[0]]: key[1] }), ...added },
    signal,
  });
  if (reply.ok) return isJson(reply) ? JSON.parse(reply.text) : reply.text;
  const after = reply.headers['retry-after'];
  throw APIError.generate(reply.status, errorBody(reply.text), undefined, new Headers(after === undefined ? {} : { 'retry-after': after }));
}
