import type { PlantedBug } from './planted-bug.js';

export const publishAcknowledgedEarly: PlantedBug = {
  name: 'publish-acknowledged-early',
  sentence: 'Publishing is acknowledged before the log has the events, as by a producer that waits for no broker.',
  check: '2 appends',
  plant: () => ({ acknowledgesEarly: true }),
};
