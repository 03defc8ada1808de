import type { PlantedBug } from './planted-bug.js';

export const sweepMissing: PlantedBug = {
  name: 'sweep-missing',
  sentence: 'Nobody looks for accepted runs whose gateway died before it published them.',
  check: '1 terminal',
  plant: () => ({
    stores({ runs }) {
      runs.unpublished = async () => [];
    },
  }),
};
