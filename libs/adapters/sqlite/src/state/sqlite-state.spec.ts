import { describeRecovery, describeRunStream, describeStateStore } from '@conclave/ports/suites';
import { stateHarness } from '../__fixtures__/state-harness.js';

describeStateStore('SQLite', stateHarness);
describeRunStream('SQLite', stateHarness);
describeRecovery('SQLite', stateHarness);
