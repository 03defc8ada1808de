import { rootOf } from '@conclave/contracts';
import type { PlantedBug } from './planted-bug.js';

const ratedTwice: PlantedBug = {
  name: 'rated-twice',
  sentence: 'The claim of a rating is not kept, so a second, different rating of the same answer counts too.',
  check: 'ratings',
  plant: () => ({
    stores({ once }) {
      const claim = once.claim.bind(once);
      once.claim = (wanted) =>
        wanted.name.startsWith('feedback/') ? Promise.resolve({ mine: true, holder: wanted.holder }) : claim(wanted);
    },
  }),
};

const learnedAfterDeletion: PlantedBug = {
  name: 'learned-after-deletion',
  sentence: 'A deletion removes what is kept of a run, but does not ban it, so a process that still learns from the run keeps it again.',
  check: 'deletions',
  plant: () => ({
    stores({ caches }) {
      const removeTagged = caches.removeTagged.bind(caches);
      caches.removeTagged = (tenant, tag) => removeTagged(tenant, tag);
    },
  }),
};

const commandReachesRoot: PlantedBug = {
  name: 'command-reaches-root',
  sentence: 'A command for a child run is given to the run that the client requested.',
  check: 'child commands',
  plant: () => ({
    subscription: (subscription) => ({
      ...subscription,
      handle: (delivery) => {
        const { event } = delivery;
        if (event.type !== 'CommandIssued') return subscription.handle(delivery);
        return subscription.handle({ ...delivery, event: { ...event, runId: rootOf(event.runId) } });
      },
    }),
  }),
};

const cacheOfAllTenants: PlantedBug = {
  name: 'cache-of-all-tenants',
  sentence: 'Cached values are found by their key alone, so a question of one tenant is answered with the answer of another.',
  check: 'tenants',
  plant: () => ({
    stores({ caches }) {
      const [read, write] = [caches.read.bind(caches), caches.write.bind(caches)];
      caches.read = (_, key) => read('default', key);
      caches.write = (entry) => write({ ...entry, tenant: 'default' });
    },
  }),
};

/** Bugs in what the owner of a run may do beside asking. */
export const ownerBugs: readonly PlantedBug[] = [ratedTwice, learnedAfterDeletion, commandReachesRoot, cacheOfAllTenants];
