import { isDeferred } from '@conclave/ports';
import type { PlantedBug } from './planted-bug.js';

export const doneBeforeEffect: PlantedBug = {
  name: 'done-before-effect',
  sentence:
    'A handler is started and its record acknowledged at once; what it gives out is published when it ends, if its process lives so long.',
  check: '4 durable',
  plant: () => ({
    subscription: (subscription, process) => ({
      ...subscription,
      handle: async (delivery) => {
        const publish = async (): Promise<void> => {
          const outcome = await subscription.handle(delivery);
          if (!isDeferred(outcome)) await process.log.publish(outcome);
        };
        void publish().catch(() => undefined);
        return [];
      },
    }),
  }),
};
