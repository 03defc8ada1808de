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
  runs_accepted_total: {
    kind: 'counter',
    unit: 'runs',
    labels: ['template', 'origin'],
    help: 'runs accepted by a gateway; origin: chat or runs',
  },
  runs_attached_total: {
    kind: 'counter',
    unit: 'requests',
    labels: ['origin'],
    help: 'requests that repeated an earlier one and were given its run instead of a new one',
  },
  run_overhead_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: ['template'],
    help: 'seconds of a run in which no plan was made and no task was worked on: queues, log, stores and engine. The rest of the run belongs to models and tools. Only runs whose every step one process took',
    buckets: seconds,
  },
  run_cancels_total: {
    kind: 'counter',
    unit: 'runs',
    labels: ['reason'],
    help: 'cancels of runs: disconnect (the last client left) or command',
  },
  command_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: ['command'],
    help: 'time from the acceptance of a command by a gateway until the run applied it',
    buckets: seconds,
  },
  commands_rejected_total: { kind: 'counter', unit: 'commands', labels: ['command'], help: 'commands that had no effect on their run' },
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
  tasks_total: {
    kind: 'counter',
    unit: 'tasks',
    labels: ['capability', 'status', 'tier'],
    help: 'tasks answered by workers; tier: which models of an expert were asked, t1 for tasks of other kinds',
  },
  task_seconds: { kind: 'histogram', unit: 's', labels: ['capability'], help: 'time a worker spent on a task', buckets: seconds },
  task_overhead_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: ['capability'],
    help: 'time of a task in which none of its model or tool calls was open',
    buckets: seconds,
  },
  escalations_total: {
    kind: 'counter',
    unit: 'tasks',
    labels: ['capability'],
    help: 'experts whose answer was unsure or failed, so that the second tier was asked',
  },
  expert_confidence: {
    kind: 'histogram',
    unit: 'confidence 0-1',
    labels: ['capability', 'tier'],
    help: 'confidence that experts gave their answers',
    buckets: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
  },
  failures_total: {
    kind: 'counter',
    unit: 'failures',
    labels: ['stage', 'error_type'],
    help: 'plans, tasks and runs that failed, by closed error type; `_other` must stay 0',
  },
  model_calls_total: {
    kind: 'counter',
    unit: 'calls',
    labels: ['model', 'purpose', 'status'],
    help: 'model and tool calls; requests that were repeated within a call count once, but each of them in the usage of runs and keys',
  },
  model_tokens_total: {
    kind: 'counter',
    unit: 'tokens',
    labels: ['model', 'kind'],
    help: 'tokens of calls: prompt, completion (reasoning included), reasoning',
  },
  model_cost_total: { kind: 'counter', unit: 'currency units', labels: ['model'], help: 'cost of calls with a known price' },
  model_call_seconds: { kind: 'histogram', unit: 's', labels: ['model'], help: 'duration of model calls', buckets: seconds },
  model_first_token_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: ['model'],
    help: 'time from the call to the first token',
    buckets: seconds,
  },
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
  cache_lookups_total: {
    kind: 'counter',
    unit: 'lookups',
    labels: ['cache', 'result'],
    help: 'cache lookups by layer (exact, semantic, plan; of workers: search, page, subtopic) and result: hit, miss, failed (the store failed or took too long; the work was done without the cache)',
  },
  cache_values_too_large_total: {
    kind: 'counter',
    unit: 'writes',
    labels: [],
    help: 'values that were too large to cache; their run continues',
  },
  store_operation_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: ['store', 'operation', 'outcome'],
    help: 'duration of an operation of the knowledge graph (graph) or the vector store (vectors): ok, failed or cancelled',
    buckets: seconds,
  },
  rerank_calls_total: {
    kind: 'counter',
    unit: 'calls',
    labels: ['retrieval', 'outcome'],
    help: 'calls of a reranker: ok, failed (the order of the search stands), cancelled (the run was, or it took too long)',
  },
  streams_open: { kind: 'gauge', unit: 'streams', labels: ['endpoint'], help: 'server-sent event streams that are open' },
  stream_ends_total: {
    kind: 'counter',
    unit: 'streams',
    labels: ['endpoint', 'end'],
    help: 'server-sent event streams that ended: finished, disconnected (the client left), slow (the client did not read), shutdown, failed',
  },
  first_content_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: ['endpoint'],
    help: 'time from a streamed request to the first content of its answer; progress does not count',
    buckets: seconds,
  },
  http_request_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: ['route'],
    help: 'time from a request to the end of its response, streams included, by route pattern',
    buckets: seconds,
  },
  http_requests_total: { kind: 'counter', unit: 'requests', labels: ['route', 'status'], help: 'HTTP requests by route pattern' },
  http_errors_total: {
    kind: 'counter',
    unit: 'responses',
    labels: ['error_type'],
    help: 'error responses by closed error type; `_other` must stay 0',
  },
  runs_refused_total: { kind: 'counter', unit: 'requests', labels: ['reason'], help: 'runs refused before they were accepted' },
  build_info: {
    kind: 'gauge',
    unit: 'constant 1',
    labels: ['version', 'service', 'node'],
    help: 'the program: its version, its service (`standalone` is all of them in one process) and its Node.js',
  },
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
