import type { Strategy } from '@conclave/loop';
import { agentic } from '../agentic/agentic.js';

/** The committee without the loop: one round, nothing to assess. */
export const singlePass: Strategy = { ...agentic, id: 'single-pass', maxRounds: () => 1, assessment: () => 'none' };
