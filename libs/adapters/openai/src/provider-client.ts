import { APIError } from 'openai/core/error';
import type { RequestInit } from 'undici';
import type { ProviderConfig } from './configuration.js';
import { withErrorBody } from './error-body.js';

/** Headers that are sent. The client library adds more, some from environment variables of another account. */
const sentHeaders = ['accept', 'authorization', 'content-type', 'user-agent'];

/** Fetch without timeouts of its own. Imports the HTTP client late, for a faster start. */
const patientFetch: typeof fetch = async (input, init) => {
  const { request } = await import('./connections.js');
  return (await request(input as URL, init as RequestInit)) as unknown as Response;
};

/**
 * A fetch limited to one origin, without redirects, so that a key never reaches another server. Sends only the headers above.
 */
export function fetchWithin(baseUrl: string, send = patientFetch): typeof fetch {
  const { origin } = new URL(baseUrl);
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
    const response = await send(url, { ...init, headers: [...headers], redirect: 'manual' });
    return response.ok ? response : withErrorBody(response);
  };
}

/**
 * GET of a path beside the model calls; returns JSON, or the text of anything else. Works without the client library, so that a start
 * does not load it. Throws what the library throws.
 */
export async function readBeside({ base_url, api_key }: ProviderConfig, path: string, signal: AbortSignal): Promise<unknown> {
  const headers = { accept: 'application/json', ...(api_key === undefined ? {} : { authorization: `Bearer ${api_key}` }) };
  const response = await fetchWithin(base_url, fetch)(`${base_url.replace(/\/$/, '')}/${path}`, { headers, signal });
  if (!response.ok) throw APIError.generate(response.status, (await response.json()) as object, undefined, response.headers);
  return /^[^;]*[/+]json\b/i.test(response.headers.get('content-type') ?? '') ? response.json() : response.text();
}
