import { describe } from '@jest/globals';
import type { StoreHarness } from './__fixtures__/store-harness.js';
import { describeCancel } from './cancel.contract.js';
import { describeDeliveries } from './deliveries.contract.js';
import { describeHintsSettingsIdentity } from './hints.contract.js';
import { describeJournal } from './journal.contract.js';
import { describeLeases } from './leases.contract.js';
import { describeAcceptance } from './runs-accept.contract.js';
import { describeCommit } from './runs-commit.contract.js';
import { describeTimers } from './timers.contract.js';

/** Every promise of `StateStore`; each test gets a new, empty store. */
export function describeStateStore(name: string, harness: StoreHarness): void {
  describe(`${name} is a state store`, () => {
    describeAcceptance(harness);
    describeCommit(harness);
    describeCancel(harness);
    describeJournal(harness);
    describeTimers(harness);
    describeLeases(harness);
    describeDeliveries(harness);
    describeHintsSettingsIdentity(harness);
  });
}
