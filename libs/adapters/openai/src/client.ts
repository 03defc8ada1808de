import OpenAI from 'openai';
import type { ProviderConfig } from './configuration.js';
import { fetchWithin } from './provider-client.js';

const silent = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };

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
