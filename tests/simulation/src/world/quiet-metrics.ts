import type { Metrics } from '@conclave/platform';

const nothing = (): void => undefined;

/** Metrics that nobody reads. */
export const quietMetrics: Metrics = {
  count: nothing,
  set: nothing,
  add: nothing,
  observe: nothing,
  onCollect: nothing,
  text: async () => '',
  contentType: 'text/plain',
};
