import type { Strategy } from '@conclave/loop';
import {
  criticInput,
  findings,
  gapInput,
  hintsInput,
  ledgerAnswer,
  planSummary,
  scoreInput,
  synthesisInput,
  taskInput,
  thinkingInput,
} from '../committee/context.js';

/** Planner, experts, merger, then gap detection and up to `max_agentic_rounds` re-plans. */
export const agentic: Strategy = {
  id: 'agentic',
  commands: ['cancel'],
  maxRounds: (template) => 1 + template.max_agentic_rounds,
  assessment: (template) => (template.max_agentic_rounds === 0 ? 'none' : template.gap_check),
  policy: { stuckThreshold: 3, stallLimit: 2 },
  taskInput,
  gapInput,
  hintsInput,
  scoreInput,
  thinkingInput,
  criticInput,
  synthesisInput,
  ledgerAnswer,
  planSummary,
  findings,
};
