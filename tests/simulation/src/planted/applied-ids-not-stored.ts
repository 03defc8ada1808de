import type { PlantedBug } from './planted-bug.js';

export const appliedIdsNotStored: PlantedBug = {
  name: 'applied-ids-not-stored',
  sentence:
    'A commit does not note which event it applied, so a redelivery after a death applies it again and never publishes what the first step gave out.',
  check: '3 outcomes',
  plant: () => ({
    stores({ runs }) {
      runs.noteApplied = () => undefined;
    },
  }),
};
