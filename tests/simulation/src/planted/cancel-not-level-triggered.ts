import type { PlantedBug } from './planted-bug.js';

export const cancelNotLevelTriggered: PlantedBug = {
  name: 'cancel-not-level-triggered',
  sentence: 'A cancel is a message and no flag: whoever was not listening at that moment never hears of it.',
  check: 'cancel',
  plant: () => ({
    stores({ runs, hints }) {
      const heard = new Set<string>();
      runs.flag = (id) => {
        hints.send('cancel', id);
        heard.add(id);
        // The message can be heard for a moment.
        setTimeout(() => heard.delete(id), 50);
      };
      runs.cancelled = async (ids) => new Set(ids.filter((id) => heard.has(id)));
    },
  }),
};
