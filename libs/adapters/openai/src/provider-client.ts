import OpenAI from 'openai';
import type { RequestInit } from 'undici';
import type { ProviderConfig } from './configuration.js';
import { withErrorBody } from './error-body.js';

const silent = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };

/** Headers that leave this process. The client library adds more, some of them from the environment of another account. */
const sentHeaders = ['accept', 'authorization', 'content-type', 'user-agent'];

/**
 * fetch that talks to one origin and follows no redirect: a key never reaches another server. Only the headers above are sent.
 */
export function fetchWithin(baseUrl: string): typeof fetch {
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
    // A start is quicker without the client for HTTP.
    const { request } = await import('./connections.js');
    const sent = { ...init, headers: [...headers], redirect: 'manual' } as RequestInit;
    const response = (await request(url, sent)) as unknown as Response;
    return response.ok ? response : withErrorBody(response);
  };
}

/** A client without retries, time-outs and logging of its own: these are ours. */
export function clientFor(provider: ProviderConfig): OpenAI {
  return new OpenAI({
    baseURL: provider.base_url,
    // The library insists on a key; the header is taken out again where there is none.
    apiKey: provider.api_key ?? 'none',
    ...(provider.api_key === undefined ? { defaultHeaders: { Authorization: null } } : {}),
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: 2 ** 31 - 1,
    fetch: fetchWithin(provider.base_url),
    // At its levels `info` and `debug` the library writes request bodies, at `error` parts of replies.
    logger: silent,
    logLevel: 'off',
  });
}
