import type { PlantedBug } from './planted-bug.js';

export const supersededNotWritten: PlantedBug = {
  name: 'superseded-not-written',
  sentence: 'A further attempt writes its text without a mark that takes back what the earlier one showed.',
  check: '5 stream',
  plant: () => ({
    stores({ stream }) {
      const plan = stream.plan.bind(stream);
      stream.plan = (stored, entries) => {
        const planned = plan(stored, entries);
        return planned.kind === 'refused' ? planned : { ...planned, bodies: planned.bodies.filter(({ kind }) => kind !== 'superseded') };
      };
    },
  }),
};
