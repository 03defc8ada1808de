import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.js';
import { gateway } from './gateway-state.js';

/** What was read from the gateway. A gateway that is away is not asked by each query: the banner asks, and everything is read anew after it. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.status >= 500,
    },
  },
});
gateway.onHealed(() => void queries.invalidateQueries());
