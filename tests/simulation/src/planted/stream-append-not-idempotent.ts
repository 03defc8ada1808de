import type { StreamBody } from '@conclave/contracts';
import type { PlantedBug } from './planted-bug.js';

export const streamAppendNotIdempotent: PlantedBug = {
  name: 'stream-append-not-idempotent',
  sentence: 'The stream appends every chunk it is given, so a replayed reply is shown a second time behind the first.',
  check: '5 stream',
  plant: () => ({
    stores({ stream }) {
      const plan = stream.plan.bind(stream);
      stream.plan = (stored, entries) => {
        const planned = plan(stored, entries);
        return planned.kind === 'refused' ? planned : { ...planned, bodies: [...marks(planned.bodies), ...entries] };
      };
    },
  }),
};

const marks = (bodies: readonly StreamBody[]): readonly StreamBody[] => bodies.filter(({ kind }) => kind === 'superseded');
