import { silentLogger } from '@conclave/platform';
import { describeSymbolic } from '@conclave/ports/suites';
import { openSymbolic } from './open-symbolic.js';

describeSymbolic('SymPy', {
  open: async () => openSymbolic({ memoryMb: 512, seconds: 10, logger: silentLogger }),
  engine: 'sympy ',
});
