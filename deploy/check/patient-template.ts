/** A template like `conclave` with limits that a slow machine does not reach. */
export const patient = {
  strategy: 'agentic',
  max_agentic_rounds: 3,
  gap_check: 'evidence',
  capabilities: ['research'],
  caches: { answer: false, semantic: false, plan: false, search: false },
  task_timeout_s: 600,
  start_timeout_s: 900,
  planning_timeout_s: 600,
  limits: { wall_time_s: 3600 },
} as const;
