import { describeEventLog } from '@conclave/ports/suites';
import { openWorld } from './__fixtures__/world.js';

describeEventLog('Kafka', { open: openWorld, patienceMs: 20_000, longTaskMs: 20_000, heldBound: 500 });
