import OpenAI, { AzureOpenAI } from 'openai';
import type { ProviderConfig } from './configuration.js';
import { fetchWithin } from './provider-client.js';

const silent = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };

/** A client without its own retries, timeouts and logging: the adapter does these. */
export function clientFor(provider: ProviderConfig): OpenAI {
  const options = {
    baseURL: provider.base_url,
    // The library insists on a key; without one, the header is removed again.
    apiKey: provider.api_key ?? 'none',
    ...(provider.api_key === undefined ? { defaultHeaders: { Authorization: null, 'api-key': null } } : {}),
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: 2 ** 31 - 1,
    fetch: fetchWithin(provider),
    // The library logs request bodies at `info` and `debug`, and parts of replies at `error`.
    logger: silent,
    logLevel: 'off',
  } as const;
  const apiVersion = provider.azure_api_version;
  return apiVersion === undefined ? new OpenAI(options) : new AzureOpenAI({ ...options, apiVersion });
}
