import type { RunLimits } from '../template.js';

/** Default limits of a template. This is their only place; the table in the docs is printed from it. */
export const defaultLimits: RunLimits = {
  wall_time_s: 300,
  model_calls: 60,
  prompt_tokens: 80_000,
  tokens: 200_000,
  cost: null,
  concurrent_tasks: 8,
};

/** Maximum cost, in currency units, of a run of a shipped template once it uses a paid model with a known price. */
export const paidCostCap = 0.5;

export const defaultTimeouts = {
  // Four experts of a slow local server answer one after the other, and each of them waits for the others.
  task_timeout_s: 240,
  start_timeout_s: 30,
  planning_timeout_s: 120,
  pause_timeout_s: 3_600,
  answer_timeout_s: 900,
} as const;

/** Characters of a reply that may repeat the same text: about a thousand tokens. */
export const defaultRepetitionLimit = 4_000;

/** Tasks of a class that one worker process runs at the same time. */
export const defaultClassConcurrency = 8;

/** Tokens assumed for a model of unknown context length. */
export const unknownContextTokens = 8_192;

/** Local model servers that are searched for when no provider is configured. */
export const discoveredProviders = ['ollama', 'lmstudio', 'llamacpp', 'vllm'] as const;
/** Provider made from OPENAI_BASE_URL and OPENAI_API_KEY. */
export const environmentProvider = 'openai';
/** Provider of the built-in demo model. */
export const demoProvider = 'demo';

/** Templates that exist without a configuration file. */
export const shippedTemplates = [
  'conclave-fast',
  'conclave',
  'conclave-research',
  'conclave-waves',
  'conclave-reflective-rag',
  'conclave-reasoning',
  'conclave-decompose',
  'conclave-adaptive',
] as const;

/** Tool servers that exist without a configuration file: name -> the product's server behind it. */
export const shippedToolServers: Readonly<Record<string, string>> = { precision: 'precision-tools' };

/** Shipped capabilities besides experts. */
export const evidenceCapabilities = ['research', 'math', 'mcp', 'graph', 'collections'] as const;
/** Categories whose answers are reviewed unless a template says otherwise. */
export const safetyCritical = ['medical_consult', 'legal_advisor'] as const;
/** Strategies shipped with the product. */
export const shippedStrategies = ['single-pass', 'agentic', 'waves', 'reflective-rag', 'reasoning', 'decompose', 'adaptive'] as const;
