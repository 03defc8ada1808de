import { defaultLimits, defaultTimeouts, type Template } from '@conclave/contracts';
import { expertPrompts } from '@conclave/strategies';
import { categories, rounds } from './replies.js';
import { instantModel, secondModel } from './instant-models.js';

/** Four experts, one re-plan after the gap check, and a second gap check that finds nothing; limits as shipped. */
export const committeeTemplate: Template = {
  id: 'bench',
  version: 'bench',
  description: '',
  strategy: 'agentic',
  // One more re-plan than is used, so that the second round is also assessed.
  max_agentic_rounds: rounds,
  gap_check: 'evidence',
  planner: { models: [instantModel], prompt: null },
  judge: { models: [instantModel] },
  experts: Object.fromEntries(categories.map((category) => [category, { t1: [instantModel], prompt: expertPrompts[category]! }])),
  capabilities: [],
  classes: { expert: 'expert', research: 'evidence', judge: 'judge' },
  limits: defaultLimits,
  ...defaultTimeouts,
  progress: 'reasoning',
  prices: {},
  contexts: {},
};

/** Like the shipped template `conclave`, with other models: a second tier, one refinement round, the thinking step of complex questions. */
export const shippedTemplate: Template = {
  ...committeeTemplate,
  id: 'bench-shipped',
  experts: Object.fromEntries(
    categories.map((category) => [category, { t1: [instantModel], t2: [secondModel], prompt: expertPrompts[category]! }]),
  ),
  complexity: 'complex',
  thinking: true,
  refine_rounds: 1,
  critic: { categories: ['medical_consult', 'legal_advisor'] },
};
