import { Acceptance } from '@conclave/service-gateway';
import type { PlantedBug } from './planted-bug.js';

/** Looks for an earlier run as usual, but gives the new run a new id. */
class ForgetfulAcceptance extends Acceptance {
  protected override idOf(): Promise<string> {
    return Promise.resolve(this.newRunId());
  }
}

const keyIsNoId: PlantedBug = {
  name: 'key-is-no-id',
  sentence:
    'The id of a run does not depend on its Idempotency-Key, so two gateways that receive one request at the same moment make two runs.',
  check: 'idempotency',
  plant: () => ({ replaced: new Map([[Acceptance, ForgetfulAcceptance]]) }),
};

const keptTooEarly: PlantedBug = {
  name: 'kept-too-early',
  sentence: 'An answer is cached as soon as its model has written it, so a run that ends differently leaves a wrong one.',
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
  sentence: 'Every tool counts as repeatable, so the next worker orders again what a dead one had ordered.',
  check: 'effects',
  plant: () => ({ tool: (tool) => ({ ...tool, repeatable: true }) }),
};

const attemptsNotCounted: PlantedBug = {
  name: 'attempts-not-counted',
  sentence: 'The ledger counts calls instead of attempts, so the usage of a repeat is counted nowhere.',
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
  sentence: 'Passages are not removed from the vectors, so a removed document is still found.',
  check: 'documents',
  plant: () => ({
    vectors(store) {
      const connect = store.connect.bind(store);
      store.connect = () => ({ ...connect(), delete: async () => undefined });
    },
  }),
};

/** Bugs in what is stored and paid besides the runs themselves. */
export const keptBugs: readonly PlantedBug[] = [keyIsNoId, keptTooEarly, orderedAgain, attemptsNotCounted, passagesLeft];
