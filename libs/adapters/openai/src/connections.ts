import { Agent, fetch, ProxyAgent, type Dispatcher } from 'undici';
import { proxyFor } from './proxy.js';

/** Without timeouts: the call bounds the wait, and a model may think longer than five minutes. */
const withoutBounds = { headersTimeout: 0, bodyTimeout: 0 };
/** Connections to model servers. */
const direct = new Agent(withoutBounds);
const proxies = new Map<string, Dispatcher>();

/** Connections through a proxy, shared by all requests that go through it. */
function through(proxy: string): Dispatcher {
  const known = proxies.get(proxy) ?? new ProxyAgent({ ...withoutBounds, uri: proxy });
  proxies.set(proxy, known);
  return known;
}

/** `fetch` over these connections. */
export const request: typeof fetch = (input, init) => {
  const proxy = proxyFor(new URL(input instanceof URL || typeof input === 'string' ? input : input.url));
  return fetch(input, { ...init, dispatcher: proxy === null ? direct : through(proxy) });
};
