import type { PlantedBug } from './planted-bug.js';

export const journalAcceptsLowerAttempt: PlantedBug = {
  name: 'journal-accepts-lower-attempt',
  sentence: 'The journal stores the outcome of any attempt, so an owner that was taken for dead finishes the call of its successor.',
  check: '6 calls',
  plant: () => ({
    stores({ journal }) {
      journal.finish = async ({ step }, outcome) => {
        const entry = journal.entries.get(step);
        if (!entry) return 'refused';
        entry.outcome ??= JSON.stringify(outcome);
        return 'stored';
      };
    },
  }),
};
