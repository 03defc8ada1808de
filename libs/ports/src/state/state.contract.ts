import { describe } from '@jest/globals';
import type { StoreHarness } from './__fixtures__/store-harness.js';
import { describeAllowances } from './allowances.contract.js';
import { describeBreakers } from './breakers.contract.js';
import { describeCaches } from './caches.contract.js';
import { describeCancel } from './cancel.contract.js';
import { describeDeliveries } from './deliveries.contract.js';
import { describeHintsIdentity } from './hints.contract.js';
import { describeJournal } from './journal.contract.js';
import { describeLeases } from './leases.contract.js';
import { describeOnce } from './once.contract.js';
import { describeAcceptance } from './runs-accept.contract.js';
import { describeCommit } from './runs-commit.contract.js';
import { describeErasure } from './runs-erase.contract.js';
import { describeScores } from './scores.contract.js';
import { describeSettings } from './settings.contract.js';
import { describeTimers } from './timers.contract.js';
import { describeUsage } from './usage.contract.js';

/** Every promise of `StateStore`; each test gets a new, empty store. */
export function describeStateStore(name: string, harness: StoreHarness): void {
  describe(`${name} is a state store`, () => {
    describeAcceptance(harness);
    describeCommit(harness);
    describeErasure(harness);
    describeCancel(harness);
    describeJournal(harness);
    describeTimers(harness);
    describeLeases(harness);
    describeDeliveries(harness);
    describeHintsIdentity(harness);
    describeSettings(harness);
    describeCaches(harness);
    describeScores(harness);
    describeOnce(harness);
    describeUsage(harness);
    describeBreakers(harness);
    describeAllowances(harness);
  });
}
