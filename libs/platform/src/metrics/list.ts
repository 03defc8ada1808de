export interface MetricSpec {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly unit: string;
  readonly labels: readonly string[];
  readonly help: string;
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[];
}

const seconds = [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const;

/** All metrics; exported with the prefix `conclave_`. Label values are bounded: never a path, a user or a run. */
export const metricList = {
  runs_total: {
    kind: 'counter',
    unit: 'runs',
    labels: ['template', 'strategy', 'outcome'],
    help: 'runs that reached their terminal event',
  },
  run_seconds: { kind: 'histogram', unit: 's', labels: ['template', 'outcome'], help: 'acceptance to terminal event', buckets: seconds },
  run_rounds: {
    kind: 'histogram',
    unit: 'rounds',
    labels: ['template', 'arm'],
    help: 'rounds of a run; template: the requested one, arm: the one that answered, the same or the other arm of a `split`',
    buckets: [1, 2, 3, 4, 5, 10, 15],
  },
  webhook_deliveries_total: {
    kind: 'counter',
    unit: 'deliveries',
    labels: ['webhook', 'outcome'],
    help: 'deliveries to webhooks by outcome: delivered, failed (one attempt), dead (the last attempt); `address`: one that a client gave',
  },
  parked_runs_total: {
    kind: 'counter',
    unit: 'runs',
    labels: [],
    help: 'runs parked because their clients left and may come back, or because their gateway stopped',
  },
  timers_dropped_total: {
    kind: 'counter',
    unit: 'timers',
    labels: [],
    help: 'due timers that were dropped because no event could be made of them',
  },
  decisions_total: { kind: 'counter', unit: 'decisions', labels: ['rule'], help: 'decisions of the engine by row of the decision table' },
  gaps_total: { kind: 'counter', unit: 'gaps', labels: [], help: 'gaps that led to another plan' },
  gap_checks_total: {
    kind: 'counter',
    unit: 'checks',
    labels: ['verdict'],
    help: 'gap checks by verdict: complete, needs_more_info, unreadable (no verdict in the reply) or failed (no reply)',
  },
  unassessed_runs_total: {
    kind: 'counter',
    unit: 'runs',
    labels: [],
    help: 'runs ended by a gap check that failed or could not be read; their answers are neither cached nor learned as assessed',
  },
  plans_total: { kind: 'counter', unit: 'plans', labels: ['result'], help: 'plans made: ok, fallback (single general task) or failed' },
  tasks_total: { kind: 'counter', unit: 'tasks', labels: ['capability', 'status'], help: 'tasks answered by workers' },
  task_seconds: { kind: 'histogram', unit: 's', labels: ['capability'], help: 'time a worker spent on a task', buckets: seconds },
  model_calls_total: { kind: 'counter', unit: 'calls', labels: ['model', 'purpose', 'status'], help: 'model and tool calls' },
  model_tokens_total: {
    kind: 'counter',
    unit: 'tokens',
    labels: ['model', 'kind'],
    help: 'tokens of calls: prompt, completion (reasoning included), reasoning',
  },
  model_cost_total: { kind: 'counter', unit: 'currency units', labels: ['model'], help: 'cost of calls with a known price' },
  model_call_seconds: { kind: 'histogram', unit: 's', labels: ['model'], help: 'duration of model calls', buckets: seconds },
  model_first_token_seconds: { kind: 'histogram', unit: 's', labels: ['model'], help: 'time to the first token', buckets: seconds },
  duplicate_calls_total: {
    kind: 'counter',
    unit: 'calls',
    labels: ['purpose'],
    help: 'calls repeated because their first process died during them; counted in the state store and reported by every merger, so use the maximum, not the sum',
  },
  handed_back_calls_total: {
    kind: 'counter',
    unit: 'calls',
    labels: ['purpose'],
    help: 'calls repeated because their first process was stopped during them or lost its stores',
  },
  provider_errors_total: {
    kind: 'counter',
    unit: 'errors',
    labels: ['provider', 'error_type'],
    help: 'failed calls by closed error type; `_other` must stay 0',
  },
  provider_breaker: {
    kind: 'gauge',
    unit: 'state',
    labels: ['provider'],
    help: 'circuit breaker of a provider, shared by all processes: 0 closed, 1 half-open (one call may test whether it works again), 2 open',
  },
  provider_breaker_openings_total: {
    kind: 'counter',
    unit: 'openings',
    labels: ['provider'],
    help: 'times the circuit breaker of a provider opened; counted by the process whose call opened it',
  },
  capability_breaker_openings_total: {
    kind: 'counter',
    unit: 'openings',
    labels: ['capability'],
    help: 'times the circuit breaker of a capability or tool opened for a tenant; counted by the process whose call opened it',
  },
  event_handle_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: ['type', 'service', 'outcome'],
    help: 'handling of one delivery',
    buckets: seconds,
  },
  event_queue_wait_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: ['type', 'service'],
    help: 'time from append to the log to the start of handling',
    buckets: seconds,
  },
  task_queue_wait_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: ['class'],
    help: 'time from append of a task to its start by a worker of its class',
    buckets: seconds,
  },
  task_waiting_seconds: {
    kind: 'gauge',
    unit: 's',
    labels: ['class'],
    help: 'age of the oldest task that waits in this process for a slot of its class; 0 if none waits',
  },
  worker_slots: {
    kind: 'gauge',
    unit: 'slots',
    labels: ['class'],
    help: 'maximum concurrent tasks of a class in this process',
  },
  worker_busy_slots: { kind: 'gauge', unit: 'slots', labels: ['class'], help: 'tasks of a class that this process runs now' },
  dead_letters_total: { kind: 'counter', unit: 'records', labels: ['topic', 'service'], help: 'records that became dead letters' },
  consumer_lag_records: { kind: 'gauge', unit: 'records', labels: ['group', 'topic'], help: 'records that a group has not finished' },
  paused_partitions: { kind: 'gauge', unit: 'partitions', labels: ['group'], help: 'partitions paused for back-pressure or a retry' },
  held_records: { kind: 'gauge', unit: 'records', labels: ['group'], help: 'records held in memory' },
  running_handlers: { kind: 'gauge', unit: 'handlers', labels: ['group'], help: 'handlers that run now' },
  outage: {
    kind: 'gauge',
    unit: 'boolean',
    labels: ['group'],
    help: '1 while consumption is paused because the log or a store does not answer',
  },
  documents_ingested_total: {
    kind: 'counter',
    unit: 'documents',
    labels: ['outcome'],
    help: 'uploaded documents that were read and embedded: ready or failed',
  },
  graph_extractions_total: {
    kind: 'counter',
    unit: 'runs',
    labels: ['outcome'],
    help: 'finished runs that were read for triples: ok, empty (none stated), unusable (no list in the reply) or failed (no reply)',
  },
  cache_hits_total: {
    kind: 'counter',
    unit: 'lookups',
    labels: ['cache'],
    help: 'lookups that a cache answered: exact and semantic answers, plans',
  },
  cache_misses_total: { kind: 'counter', unit: 'lookups', labels: ['cache'], help: 'lookups without a cached entry' },
  cache_failures_total: {
    kind: 'counter',
    unit: 'lookups',
    labels: ['cache'],
    help: 'lookups that failed or took too long; the question was answered without the cache',
  },
  cache_values_too_large_total: {
    kind: 'counter',
    unit: 'writes',
    labels: [],
    help: 'values that were too large to cache; their run continues',
  },
  rerank_calls_total: {
    kind: 'counter',
    unit: 'calls',
    labels: ['retrieval', 'outcome'],
    help: 'calls of a reranker: ok, failed (the order of the search stands), cancelled (the run was, or it took too long)',
  },
  streams_open: { kind: 'gauge', unit: 'streams', labels: ['endpoint'], help: 'server-sent event streams that are open' },
  http_requests_total: { kind: 'counter', unit: 'requests', labels: ['route', 'status'], help: 'HTTP requests by route pattern' },
  http_errors_total: { kind: 'counter', unit: 'responses', labels: ['error_type'], help: 'error responses by closed error type' },
  runs_refused_total: { kind: 'counter', unit: 'requests', labels: ['reason'], help: 'runs refused before they were accepted' },
} as const satisfies Record<string, MetricSpec>;

export type MetricName = keyof typeof metricList;
export type LabelsOf<N extends MetricName> = Readonly<Record<(typeof metricList)[N]['labels'][number], string>>;
type NamesOf<K extends MetricSpec['kind']> = { [N in MetricName]: (typeof metricList)[N]['kind'] extends K ? N : never }[MetricName];
export type CounterName = NamesOf<'counter'>;
export type GaugeName = NamesOf<'gauge'>;
export type HistogramName = NamesOf<'histogram'>;

/** The list as a Markdown table for the docs. */
export function metricsTable(): string {
  const rows = Object.entries<MetricSpec>(metricList).map(
    ([name, { kind, unit, labels, help }]) =>
      `| \`conclave_${name}\` | ${kind} | ${unit} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  );
  return [
    '# Metrics',
    '',
    'Printed from the list in `libs/platform/src/metrics/list.ts`.',
    '',
    '| Metric | Kind | Unit | Labels | Meaning |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
