import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.js';
import { gateway } from './gateway-state.js';

/**
 * Cached reads from the gateway. They do not depend on whether the browser has a network: the gateway may be on the same machine. While it is away,
 * queries do not retry: the banner probes it, and everything is read again afterwards.
 */
export const queries = new QueryClient({
  defaultOptions: {
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.status >= 500,
    },
  },
});
gateway.onHealed(() => void queries.invalidateQueries());
