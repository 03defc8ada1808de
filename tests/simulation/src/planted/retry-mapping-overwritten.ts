import type { PlantedBug } from './planted-bug.js';

export const retryMappingOverwritten: PlantedBug = {
  name: 'retry-mapping-overwritten',
  sentence:
    'The mapping from a request to its run is set and not set-if-absent, so a retry is led to the run of somebody who asked the same later.',
  check: 'retries',
  plant: () => ({
    stores({ runs, clock }) {
      runs.mapRetry = (retryKey, runId) => void runs.retries.set(retryKey, { runId, at: clock.now() });
    },
  }),
};
