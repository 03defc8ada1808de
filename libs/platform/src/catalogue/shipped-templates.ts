import { evidenceCapabilities, type shippedTemplates, TemplateSettings } from '@conclave/contracts';

/** Settings of the shipped templates beside their strategy. */
const wholePipeline = {
  gap_check: 'evidence',
  capabilities: [...evidenceCapabilities],
  caches: { answer: true, semantic: true, plan: true, search: true },
  thinking: true,
} as const;

/** The templates that come with the product, as an operator would write them. */
export const shipped: Readonly<Record<(typeof shippedTemplates)[number], TemplateSettings>> = {
  'conclave-fast': TemplateSettings.parse({
    ...wholePipeline,
    strategy: 'single-pass',
    description: 'One pass: plan, experts and research in parallel, one answer.',
  }),
  conclave: TemplateSettings.parse({
    ...wholePipeline,
    strategy: 'agentic',
    max_agentic_rounds: 3,
    description: 'Checks what is still missing and plans again, up to 3 times.',
  }),
  'conclave-research': TemplateSettings.parse({
    ...wholePipeline,
    strategy: 'agentic',
    max_agentic_rounds: 4,
    description: 'Like conclave, but plans again up to 4 times: for questions that need research.',
  }),
  'conclave-waves': TemplateSettings.parse({
    strategy: 'waves',
    capabilities: ['mcp'],
    description: 'Calls tools in waves, each planned from the results of the last one; then one answer.',
  }),
  'conclave-reflective-rag': TemplateSettings.parse({
    strategy: 'reflective-rag',
    capabilities: ['collections', 'research'],
    caches: { answer: true, semantic: true, plan: false, search: true },
    description: 'Looks into your documents, judges whether the facts suffice, and asks again with another query, up to 3 passes.',
  }),
  'conclave-reasoning': TemplateSettings.parse({
    strategy: 'reasoning',
    capabilities: [...evidenceCapabilities],
    description: 'Plans steps towards a goal, runs one after the other, scores each, and can be steered while it runs.',
  }),
  'conclave-decompose': TemplateSettings.parse({
    strategy: 'decompose',
    capabilities: ['research', 'collections'],
    description: 'Researches the parts of a question at the same time, then compares, ranks or joins what was found.',
  }),
  'conclave-adaptive': TemplateSettings.parse({
    ...wholePipeline,
    strategy: 'adaptive',
    max_agentic_rounds: 3,
    description: 'Chooses by the question: one pass for a fact, parts at the same time for a comparison, the loop for the rest.',
  }),
};

/**
 * Shipped templates that the demo model cannot serve, each with capabilities of which it needs at least one: without them it has nothing to
 * do.
 */
export const wants: Readonly<Record<string, readonly string[]>> = {
  'conclave-waves': ['mcp'],
  'conclave-reflective-rag': ['collections', 'research'],
  'conclave-reasoning': [...evidenceCapabilities],
  'conclave-decompose': ['research', 'collections'],
  'conclave-adaptive': [...evidenceCapabilities],
};
