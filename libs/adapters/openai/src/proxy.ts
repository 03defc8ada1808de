import { getProxyForUrl } from 'proxy-from-env';

/**
 * Address of the proxy for a request, from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY (or their lower-case forms); null without one. This machine
 * is never reached through a proxy.
 */
export function proxyFor(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\./.test(host)) return null;
  return getProxyForUrl(url.href) || null;
}
