import { Agent, ProxyAgent, request, type Dispatcher } from 'undici';
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

function dispatcherFor(url: URL): Dispatcher {
  const proxy = proxyFor(url);
  return proxy === null ? direct : through(proxy);
}

export interface Sent {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** One request over these connections, without redirects; its reply is read as it arrives. `fetch` needs twice as much processor time. */
export const send = (url: URL, sent: Sent): Promise<Dispatcher.ResponseData> => request(url, { ...sent, dispatcher: dispatcherFor(url) });
