import type { PlantedBug } from './planted-bug.js';

export const lostAnswerKeepsStep: PlantedBug = {
  name: 'lost-answer-keeps-step',
  sentence:
    'A step is begun once more under a new nonce when the answer to the first try got lost: its own process then finds it busy for as long as it lives.',
  check: '8 nothing left',
  plant: () => ({
    stores({ journal }) {
      const begin = journal.begin.bind(journal);
      let tries = 0;
      // This was the product's own bug, found by this simulation: every try had a nonce of its own.
      journal.begin = (call) => begin({ ...call, nonce: `${call.nonce}/${(tries += 1)}` });
    },
  }),
};
