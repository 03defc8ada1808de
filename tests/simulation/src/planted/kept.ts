import { Acceptance } from '@conclave/service-gateway';
import type { PlantedBug } from './planted-bug.js';

/** Looks for an earlier run as usual, but gives the new one its own id. */
class ForgetfulAcceptance extends Acceptance {
  protected override idOf(): Promise<string> {
    return Promise.resolve(this.newRunId());
  }
}

const keyIsNoId: PlantedBug = {
  name: 'key-is-no-id',
  sentence:
    'The id of a run does not follow from its Idempotency-Key, so two gateways that get one request at the same moment make two runs.',
  check: 'idempotency',
  plant: () => ({ replaced: new Map([[Acceptance, ForgetfulAcceptance]]) }),
};

const keptTooEarly: PlantedBug = {
  name: 'kept-too-early',
  sentence: 'An answer is kept as soon as its model has written it: a run that ends otherwise has taught a wrong one.',
  check: 'caches',
  plant: () => ({
    stores({ journal, caches }) {
      const finish = journal.finish.bind(journal);
      journal.finish = async (call, outcome, paid) => {
        const { step, runId } = call;
        if (step.includes('/judge.synthesis/'))
          await caches.write({ tenant: 'default', key: `semantic/${runId}`, value: outcome, ttlMs: 60_000, tags: [`run:${runId}`] });
        return finish(call, outcome, paid);
      };
    },
  }),
};

const orderedAgain: PlantedBug = {
  name: 'ordered-again',
  sentence: 'Every tool counts as one that may be called again, so the next worker orders what a dead one had ordered.',
  check: 'effects',
  plant: () => ({ tool: (tool) => ({ ...tool, repeatable: true }) }),
};

const attemptsNotCounted: PlantedBug = {
  name: 'attempts-not-counted',
  sentence: 'The ledger knows calls and not their attempts, so what a repeat used is counted nowhere.',
  check: 'usage',
  plant: () => ({
    stores({ usage }) {
      const add = usage.add.bind(usage);
      usage.add = (call) => add({ ...call, attempt: 1 });
    },
  }),
};

const passagesLeft: PlantedBug = {
  name: 'passages-left',
  sentence: 'Passages are not removed from the vectors, so a document that was taken out is found all the same.',
  check: 'documents',
  plant: () => ({
    vectors(store) {
      const connect = store.connect.bind(store);
      store.connect = () => ({ ...connect(), delete: async () => undefined });
    },
  }),
};

/** Bugs of what is kept and paid beside the runs themselves. */
export const keptBugs: readonly PlantedBug[] = [keyIsNoId, keptTooEarly, orderedAgain, attemptsNotCounted, passagesLeft];
