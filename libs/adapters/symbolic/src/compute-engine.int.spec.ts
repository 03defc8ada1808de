import { jest } from '@jest/globals';
import { silentLogger } from '@conclave/platform';
import { describeSymbolic } from '@conclave/ports/suites';
import { openSymbolic } from './open-symbolic.js';

// A busy machine gives a process little time.
jest.setTimeout(60_000);

describeSymbolic('The Compute Engine', {
  open: async () => openSymbolic({ memoryMb: 512, seconds: 10, logger: silentLogger, prefer: 'compute-engine' }),
  backend: 'compute-engine ',
});
