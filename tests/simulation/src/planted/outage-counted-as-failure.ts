import { isOutage } from '@conclave/contracts';
import type { PlantedBug } from './planted-bug.js';

export const outageCountedAsFailure: PlantedBug = {
  name: 'outage-counted-as-failure',
  sentence: 'A handler that meets an outage of our own store fails like any other, so after five tries a good record is a dead letter.',
  check: 'dead letters',
  plant: () => ({
    subscription: (subscription) => ({
      ...subscription,
      handle: async (delivery) => {
        try {
          return await subscription.handle(delivery);
        } catch (error) {
          throw isOutage(error) ? new Error('The handler failed.', { cause: error }) : error;
        }
      },
    }),
  }),
};
