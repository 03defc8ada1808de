import type { PlantedBug } from './planted-bug.js';

export const journalIgnoresLeases: PlantedBug = {
  name: 'journal-ignores-leases',
  sentence: 'The journal gives a step that was begun to whoever asks next, without looking whether its owner lives.',
  check: '6 calls',
  plant: () => ({
    stores({ journal }) {
      const begin = journal.begin.bind(journal);
      journal.begin = (call) => {
        const entry = journal.entries.get(call.step);
        if (entry && entry.outcome === null && entry.nonce !== call.nonce) entry.owner = null;
        return begin(call);
      };
    },
  }),
};
