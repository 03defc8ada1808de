import type { Template } from '@conclave/contracts';
import { describeRun } from '@conclave/loop';
import { silentLogger, type CrashPoints, type History } from '@conclave/platform';
import type { EventLog, Models, RunStream, StateStore } from '@conclave/ports';
import type { GatewayMetrics, GatewayOptions } from '@conclave/service-gateway';
import { strategyOf } from '@conclave/strategies';

const model = 'm@fake';

export const template = (rounds: number, gapCheck: 'answer' | 'evidence'): Template => ({
  id: 'conclave',
  version: 'v1',
  description: '',
  strategy: 'agentic',
  max_agentic_rounds: rounds,
  gap_check: gapCheck,
  planner: { models: [model], prompt: null },
  judge: { models: [model, model] },
  experts: { general: { t1: [model, model], prompt: 'Answer.' } },
  capabilities: ['research'],
  classes: { expert: 'expert', research: 'evidence', judge: 'judge' },
  limits: { wall_time_s: 60, model_calls: 60, prompt_tokens: 2_000_000, tokens: 4_000_000, cost: null, concurrent_tasks: 8 },
  task_timeout_s: 8,
  start_timeout_s: 12,
  planning_timeout_s: 12,
  progress: 'reasoning',
  prices: {},
  contexts: {},
});

const metrics = new Proxy({} as GatewayMetrics, { get: () => () => undefined });

/** A gateway of the simulation: everything behind HTTP is the product's own. */
export const gatewayOptions = (parts: {
  readonly log: EventLog;
  readonly state: StateStore;
  readonly stream: RunStream;
  readonly models: Models;
  readonly crashPoints: CrashPoints;
  readonly history: History;
  readonly newRunId: () => string;
}): GatewayOptions => ({
  ...parts,
  catalogue: { templates: () => [], resolve: () => null, waitsFor: async () => null, describeModels: () => [] },
  keys: null,
  logger: silentLogger,
  metrics,
  describeRun: (state) => describeRun(state, strategyOf),
  metricsText: async () => ({ contentType: '', text: '' }),
  openApi: () => '{}',
  asyncApi: () => '{}',
});
