import type { PlanRequested } from '@conclave/contracts';
import type { PlantedBug } from './planted-bug.js';

const cancelEndsAtParent: PlantedBug = {
  name: 'cancel-ends-at-parent',
  sentence: 'Child runs do not see the cancel of their parent: neither its flag nor a command reaches them.',
  check: 'cancel',
  plant: () => ({
    stores({ runs }) {
      const cancelled = runs.cancelled.bind(runs);
      const hasChildren = (id: string): boolean => [...runs.rows.keys()].some((runId) => runId.startsWith(`${id.split('/', 1)[0]!}~`));
      runs.cancelled = async (ids) => new Set([...(await cancelled(ids))].filter((id) => !hasChildren(id)));
    },
    subscription: (subscription) => ({
      ...subscription,
      handle: async (delivery) => (delivery.event.id.endsWith('/cancel') ? [] : subscription.handle(delivery)),
    }),
  }),
};

const childSpendsFreely: PlantedBug = {
  name: 'child-spends-freely',
  sentence: 'A child run gets the limits of its template, regardless of what its parent has left for it.',
  check: 'child runs',
  plant: () => ({
    stores({ runs }) {
      const accept = runs.accept.bind(runs);
      const unbounded = (header: PlanRequested): PlanRequested => ({
        ...header,
        data: { ...header.data, limits: header.data.template.limits },
      });
      runs.accept = (given) => accept(given.header.runId.includes('~') ? { ...given, header: unbounded(given.header) } : given);
    },
  }),
};

/** Bugs in child runs. */
export const childBugs: readonly PlantedBug[] = [cancelEndsAtParent, childSpendsFreely];
