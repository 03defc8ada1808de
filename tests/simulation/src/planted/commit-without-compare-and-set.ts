import type { PlantedBug } from './planted-bug.js';

export const commitWithoutCompareAndSet: PlantedBug = {
  name: 'commit-without-compare-and-set',
  sentence: 'A commit writes its step whatever version the run has by now, so of two steps at the same time one is lost.',
  check: '7 replay',
  plant: () => ({
    stores({ runs }) {
      runs.compareAndSet = (event, version, write) => {
        runs.write(event, version, write);
        return true;
      };
    },
  }),
};
