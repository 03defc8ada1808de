import type { Template } from '@conclave/contracts';
import type { StormPlan } from '../faults/storm-plan.js';

const model = 'm@fake';
const other = 'n@fake';

/** Every tool of the simulated desk; `desk.gone` is named by planners but not offered. */
const tools = [
  { name: 'desk.count', description: 'Counts', signature: 'item: string', repeatable: true },
  { name: 'desk.order', description: 'Orders', signature: 'item: string', repeatable: false },
];
export const collection = 'shelf';

/** Model calls of a run with sub-topics: so few that its child runs get fewer than they could use. */
const callsOfTree = 40;

/** Templates of one seed: a committee with the features that were drawn, waves, and sub-topics. */
export function templatesOf({ rounds, gapCheck, features }: StormPlan): {
  readonly committee: Template;
  readonly waves: Template;
  readonly tree: Template;
} {
  const { tiers, refineRounds, thinking, critic, complexity, documents, caches, graph } = features;
  const profile = { t1: tiers ? [model, other] : [model, model], ...(tiers ? { t2: [other] } : {}), prompt: 'Answer.' };
  const common = {
    version: 'v1',
    description: '',
    planner: { models: [model], prompt: null },
    judge: { models: [model, model] },
    classes: { expert: 'expert', research: 'evidence', mcp: 'evidence', collections: 'evidence', graph: 'evidence', judge: 'judge' },
    limits: { wall_time_s: 60, model_calls: 60, prompt_tokens: 2_000_000, tokens: 4_000_000, cost: null, concurrent_tasks: 8 },
    task_timeout_s: 8,
    start_timeout_s: 12,
    planning_timeout_s: 12,
    pause_timeout_s: 20,
    progress: 'reasoning' as const,
    prices: {},
    contexts: {},
    gap_check: gapCheck,
    max_agentic_rounds: rounds,
    ...(caches ? { caches: { answer: true, semantic: true, plan: true, search: true } } : {}),
  };
  const committee: Template = {
    ...common,
    id: 'conclave',
    strategy: 'agentic',
    experts: { general: profile, ...(critic ? { legal_advisor: profile } : {}) },
    capabilities: ['research', ...(features.tools ? ['mcp'] : []), ...(documents ? ['collections'] : []), ...(graph ? ['graph'] : [])],
    ...(features.tools ? { tools } : {}),
    ...(documents ? { collections: [{ name: collection, description: 'what was uploaded' }] } : {}),
    ...(critic ? { critic: { categories: ['legal_advisor'] } } : {}),
    complexity,
    refine_rounds: refineRounds,
    thinking,
  };
  const waves: Template = {
    ...common,
    id: 'conclave-waves',
    strategy: 'waves',
    options: { max_waves: rounds + 2, call_timeout_s: 5 },
    experts: { general: profile },
    capabilities: ['mcp'],
    tools,
  };
  const tree: Template = {
    ...common,
    id: 'conclave-tree',
    strategy: 'decompose',
    options: {
      max_topics: 2,
      ...(features.topics === 'committees' ? { child: committee.id } : features.topics === 'tree' ? { child: 'conclave-tree' } : {}),
    },
    experts: { general: profile },
    capabilities: ['research'],
    // Ends before the run of a dead gateway is given up.
    limits: { ...common.limits, model_calls: callsOfTree, wall_time_s: 40 },
  };
  return { committee, waves, tree };
}
