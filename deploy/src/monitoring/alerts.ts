import type { Counter } from './queries.js';

/** Writes a duration in seconds for Prometheus; tests shorten all of them alike. */
export type Duration = (seconds: number) => string;
export const asWritten: Duration = (seconds) => (seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`);

/** Series of a unit test, as promtool writes them, a sample a minute. */
type Given = Readonly<Record<string, string>>;

export interface Alert {
  readonly name: string;
  /** critical: people get no answers, wake someone up. warning: someone looks on the next working day. */
  readonly severity: 'critical' | 'warning';
  readonly expr: (t: Duration) => string;
  /** Seconds for which it must be true. */
  readonly for: number;
  readonly summary: string;
  /** Describes the case, with values of the alert. */
  readonly description: string;
  /** Series with which it fires after twenty minutes, its labels then, and series with which it does not. */
  readonly fires: Given;
  readonly with: Readonly<Record<string, string>>;
  readonly quiet: Given;
}

/**
 * A counter that has grown, or did not exist before: Prometheus does not treat the first value of a series as an increase. "Before" covers
 * several minutes, so that the old counts of a process that hung for a moment do not look new when it answers again.
 */
const grew =
  (name: Counter, by: string, seconds: number, where = '') =>
  (t: Duration): string => {
    const of = `conclave_${name}${where}`;
    const window = t(seconds);
    return `(sum by (${by}) (increase(${of}[${window}])) > 0) or ((sum by (${by}) (${of}) > 0) unless sum by (${by}) (last_over_time(${of}[${t(300)}] offset ${window})))`;
  };
const p95 = (name: string, by: string, window: string, where = ''): string =>
  `histogram_quantile(0.95, sum by (le, ${by}) (rate(conclave_${name}_bucket${where}[${window}])))`;

const up = { 'up{job="experts",instance="a:9464"}': '1x30' } as const;
const steady = '0+60x30';

export const alerts: readonly Alert[] = [
  {
    name: 'ConclaveProcessDown',
    severity: 'critical',
    expr: () => 'up == 0 and on (job, instance) conclave:known',
    for: 60,
    summary: 'A process of Conclave does not answer',
    description: 'Prometheus cannot read {{ $labels.job }} at {{ $labels.instance }}: it has died, hangs, or cannot be reached.',
    fires: {
      'up{job="experts",instance="a:9464"}': '1x5 0x25',
      'conclave_build_info{job="experts",instance="a:9464",service="experts"}': '1x5 _x25',
    },
    with: { job: 'experts', instance: 'a:9464' },
    quiet: { ...up, 'conclave_build_info{job="experts",instance="a:9464",service="experts"}': '1x30' },
  },
  {
    name: 'ConclaveServiceGone',
    severity: 'critical',
    expr: (t) =>
      `group by (service) (last_over_time(conclave_build_info[${t(3600)}])) unless on (service) group by (service) (conclave_build_info)`,
    for: 120,
    summary: 'No process of a service is left',
    description: 'No process of {{ $labels.service }} answers, although one did within the last hour.',
    fires: {
      'conclave_build_info{service="planner",instance="a"}': '1x5 _x25',
      'conclave_build_info{service="merger",instance="b"}': '1x30',
    },
    with: { service: 'planner' },
    quiet: {
      'conclave_build_info{service="planner",instance="a"}': '1x5 _x25',
      'conclave_build_info{service="planner",instance="b"}': '1x30',
    },
  },
  {
    name: 'ConclaveRestarts',
    severity: 'warning',
    expr: (t) => `sum by (job) (changes(process_start_time_seconds[${t(900)}]) and on (job, instance) conclave_build_info) >= 3`,
    for: 0,
    summary: 'A service keeps restarting',
    description: 'Processes of {{ $labels.job }} have started {{ $value }} times within a quarter of an hour.',
    fires: {
      'process_start_time_seconds{job="merger",instance="a"}': '100x10 700x2 820x2 940x20',
      'conclave_build_info{job="merger",instance="a"}': '1x40',
    },
    with: { job: 'merger' },
    quiet: {
      'process_start_time_seconds{job="merger",instance="a"}': '100x10 700x30',
      'conclave_build_info{job="merger",instance="a"}': '1x40',
    },
  },
  {
    name: 'ConclaveDeadLetters',
    severity: 'critical',
    expr: grew('dead_letters_total', 'topic, service', 900),
    for: 0,
    summary: 'Work was given up',
    description: 'A record of {{ $labels.topic }} could not be handled by {{ $labels.service }} and became a dead letter.',
    fires: { 'conclave_dead_letters_total{topic="plan.created",service="merger"}': '0x15 1x20' },
    with: { topic: 'plan.created', service: 'merger' },
    // The process was not scraped fifteen minutes ago.
    quiet: { 'conclave_dead_letters_total{topic="plan.created",service="merger"}': '2x3 stale _x3 2x33' },
  },
  {
    name: 'ConclaveStandsStill',
    severity: 'critical',
    expr: () => 'max by (group) (conclave_outage) == 1',
    for: 60,
    summary: 'A service waits for the log or a store',
    description: 'The group {{ $labels.group }} has paused, because Kafka, Redis or another store does not answer.',
    fires: { 'conclave_outage{group="merger"}': '0x5 1x25' },
    with: { group: 'merger' },
    quiet: { 'conclave_outage{group="merger"}': '1x3 0x27' },
  },
  {
    name: 'ConclaveLag',
    severity: 'warning',
    expr: () => 'sum by (group) (max by (group, topic) (conclave_consumer_lag_records)) > 500',
    for: 300,
    summary: 'A service does not keep up with the log',
    description: 'The group {{ $labels.group }} has {{ $value }} records waiting.',
    fires: { 'conclave_consumer_lag_records{group="tasks.expert",topic="tasks.dispatched.expert"}': '0x5 900x25' },
    with: { group: 'tasks.expert' },
    quiet: { 'conclave_consumer_lag_records{group="tasks.expert",topic="tasks.dispatched.expert"}': '0x5 900x2 20x23' },
  },
  {
    name: 'ConclaveTasksWait',
    severity: 'warning',
    expr: (t) => `${p95('task_queue_wait_seconds', 'class', t(300))} > 30 or max by (class) (conclave_task_waiting_seconds) > 60`,
    for: 120,
    summary: 'Tasks wait for a worker',
    description: 'Tasks of the class {{ $labels.class }} wait {{ $value | humanizeDuration }} for a free worker.',
    fires: { 'conclave_task_waiting_seconds{class="expert"}': '0x5 90x25' },
    with: { class: 'expert' },
    quiet: { 'conclave_task_waiting_seconds{class="expert"}': '20x30' },
  },
  {
    name: 'ConclaveProviderDown',
    severity: 'critical',
    expr: (t) => `max by (provider) (max_over_time(conclave_provider_breaker[${t(60)}])) == 2`,
    for: 60,
    summary: 'A model server does not answer',
    description: 'The circuit breaker of the provider {{ $labels.provider }} is open: its calls fail, and it receives none for a while.',
    fires: { 'conclave_provider_breaker{provider="local"}': '0x5 2x25' },
    with: { provider: 'local' },
    quiet: { 'conclave_provider_breaker{provider="local"}': '0x30' },
  },
  {
    name: 'ConclaveProviderRefuses',
    severity: 'warning',
    expr: (t) =>
      `sum by (provider, error_type) (increase(conclave_provider_errors_total{error_type=~"provider_auth|provider_context|provider_refused"}[${t(600)}])) > 3`,
    for: 300,
    summary: 'A model server refuses calls',
    description: 'The provider {{ $labels.provider }} refuses calls: {{ $labels.error_type }}.',
    fires: { 'conclave_provider_errors_total{provider="cloud",error_type="provider_auth"}': '0+5x30' },
    with: { provider: 'cloud', error_type: 'provider_auth' },
    quiet: { 'conclave_provider_errors_total{provider="cloud",error_type="provider_timeout"}': '0+5x30' },
  },
  {
    name: 'ConclaveRunsFail',
    severity: 'critical',
    expr: (t) =>
      `sum by (template) (rate(conclave_runs_total{outcome="failed"}[${t(600)}])) / sum by (template) (rate(conclave_runs_total[${t(600)}])) > 0.1 and sum by (template) (increase(conclave_runs_total{outcome="failed"}[${t(600)}])) > 2`,
    for: 120,
    summary: 'Runs fail',
    description: '{{ $value | humanizePercentage }} of the runs of {{ $labels.template }} fail.',
    fires: {
      'conclave_runs_total{template="conclave",outcome="failed"}': '0+3x30',
      'conclave_runs_total{template="conclave",outcome="completed"}': '0+7x30',
    },
    with: { template: 'conclave' },
    quiet: {
      'conclave_runs_total{template="conclave",outcome="failed"}': '0x10 1x20',
      'conclave_runs_total{template="conclave",outcome="completed"}': steady,
    },
  },
  {
    name: 'ConclaveRunsSlow',
    severity: 'warning',
    expr: (t) => `${p95('run_seconds', 'template', t(900))} > 150`,
    for: 600,
    summary: 'Runs take very long',
    description: 'Of the runs of {{ $labels.template }}, 5 in 100 take longer than {{ $value | humanizeDuration }}.',
    fires: {
      'conclave_run_seconds_bucket{template="conclave",le="120"}': '0+1x40',
      'conclave_run_seconds_bucket{template="conclave",le="300"}': '0+10x40',
      'conclave_run_seconds_bucket{template="conclave",le="+Inf"}': '0+10x40',
    },
    with: { template: 'conclave' },
    quiet: {
      'conclave_run_seconds_bucket{template="conclave",le="120"}': '0+10x40',
      'conclave_run_seconds_bucket{template="conclave",le="300"}': '0+10x40',
      'conclave_run_seconds_bucket{template="conclave",le="+Inf"}': '0+10x40',
    },
  },
  {
    name: 'ConclaveFirstContentSlow',
    severity: 'warning',
    expr: (t) => `${p95('first_content_seconds', 'endpoint', t(900))} > 90`,
    for: 600,
    summary: 'People wait long for the first words',
    description: 'Of the streamed answers ({{ $labels.endpoint }}), 5 in 100 begin after more than {{ $value | humanizeDuration }}.',
    fires: {
      'conclave_first_content_seconds_bucket{endpoint="chat",le="60"}': '0+1x40',
      'conclave_first_content_seconds_bucket{endpoint="chat",le="120"}': '0+10x40',
      'conclave_first_content_seconds_bucket{endpoint="chat",le="+Inf"}': '0+10x40',
    },
    with: { endpoint: 'chat' },
    quiet: {
      'conclave_first_content_seconds_bucket{endpoint="chat",le="60"}': '0+10x40',
      'conclave_first_content_seconds_bucket{endpoint="chat",le="120"}': '0+10x40',
      'conclave_first_content_seconds_bucket{endpoint="chat",le="+Inf"}': '0+10x40',
    },
  },
  {
    name: 'ConclaveHttpErrors',
    severity: 'critical',
    expr: (t) =>
      `sum(rate(conclave_http_requests_total{status=~"5..",status!="503"}[${t(300)}])) / sum(rate(conclave_http_requests_total[${t(300)}])) > 0.05`,
    for: 120,
    summary: 'Requests end in errors',
    description: '{{ $value | humanizePercentage }} of the requests end with a status of 500 or above.',
    fires: { 'conclave_http_requests_total{status="500"}': '0+10x30', 'conclave_http_requests_total{status="200"}': steady },
    with: {},
    quiet: { 'conclave_http_requests_total{status="500"}': '0x30', 'conclave_http_requests_total{status="200"}': steady },
  },
  {
    name: 'ConclaveRunsRefused',
    severity: 'warning',
    expr: (t) => `sum by (reason) (rate(conclave_runs_refused_total[${t(300)}])) > 0`,
    for: 300,
    summary: 'Questions are refused',
    description: 'Questions have been refused for five minutes: {{ $labels.reason }}.',
    fires: { 'conclave_runs_refused_total{reason="overloaded"}': '0+4x30' },
    with: { reason: 'overloaded' },
    quiet: { 'conclave_runs_refused_total{reason="overloaded"}': '0x5 4x25' },
  },
  {
    name: 'ConclaveUntypedErrors',
    severity: 'warning',
    expr: () => 'sum by (job) ({__name__=~"conclave_(http_errors|failures|provider_errors)_total",error_type="_other"}) > 0',
    for: 0,
    summary: 'A defect of Conclave was detected',
    description:
      '{{ $labels.job }} has met {{ $value }} failures that no row of the failure table describes. It fires until the process restarts.',
    fires: { 'conclave_failures_total{job="merger",stage="run",error_type="_other"}': '0x5 1x25' },
    with: { job: 'merger' },
    quiet: { 'conclave_failures_total{job="merger",stage="run",error_type="own_store"}': '0x5 1x25' },
  },
  {
    name: 'ConclaveGapChecksUnreadable',
    severity: 'warning',
    expr: (t) =>
      `sum(rate(conclave_gap_checks_total{verdict=~"unreadable|failed"}[${t(900)}])) / sum(rate(conclave_gap_checks_total[${t(900)}])) > 0.2`,
    for: 300,
    summary: 'Answers are not assessed',
    description:
      '{{ $value | humanizePercentage }} of the gap checks return no verdict: the judge fails, or its model does not follow the format.',
    fires: { 'conclave_gap_checks_total{verdict="unreadable"}': '0+5x40', 'conclave_gap_checks_total{verdict="complete"}': '0+5x40' },
    with: {},
    quiet: { 'conclave_gap_checks_total{verdict="unreadable"}': '0+1x40', 'conclave_gap_checks_total{verdict="complete"}': '0+20x40' },
  },
  {
    name: 'ConclaveCommandsSlow',
    severity: 'warning',
    expr: (t) => `${p95('command_seconds', 'command', t(600), '{command=~"cancel|pause|resume"}')} > 10`,
    for: 300,
    summary: 'Commands take effect late',
    description: 'The command {{ $labels.command }} takes {{ $value | humanizeDuration }} to take effect.',
    fires: {
      'conclave_command_seconds_bucket{command="cancel",le="10"}': '0x30',
      'conclave_command_seconds_bucket{command="cancel",le="30"}': '0+10x30',
      'conclave_command_seconds_bucket{command="cancel",le="+Inf"}': '0+10x30',
    },
    with: { command: 'cancel' },
    quiet: {
      'conclave_command_seconds_bucket{command="steer",le="10"}': '0x30',
      'conclave_command_seconds_bucket{command="steer",le="30"}': '0+10x30',
      'conclave_command_seconds_bucket{command="steer",le="+Inf"}': '0+10x30',
    },
  },
  {
    name: 'ConclaveStoreFails',
    severity: 'warning',
    expr: (t) => `sum by (store) (increase(conclave_store_operation_seconds_count{outcome="failed"}[${t(300)}])) > 3`,
    for: 120,
    summary: 'Graph or vector store fails',
    description: 'Operations of the {{ $labels.store }} fail. Runs go on without its knowledge.',
    fires: { 'conclave_store_operation_seconds_count{store="graph",operation="retrieve",outcome="failed"}': '0+3x30' },
    with: { store: 'graph' },
    quiet: { 'conclave_store_operation_seconds_count{store="graph",operation="retrieve",outcome="ok"}': '0+3x30' },
  },
  {
    name: 'ConclaveCacheFails',
    severity: 'warning',
    expr: (t) =>
      `sum by (cache) (rate(conclave_cache_lookups_total{result="failed"}[${t(600)}])) / sum by (cache) (rate(conclave_cache_lookups_total[${t(600)}])) > 0.1`,
    for: 300,
    summary: 'Cache lookups fail',
    description:
      '{{ $value | humanizePercentage }} of the lookups of the cache {{ $labels.cache }} fail or take too long: equal questions are answered again from scratch.',
    fires: {
      'conclave_cache_lookups_total{cache="semantic",result="failed"}': '0+2x30',
      'conclave_cache_lookups_total{cache="semantic",result="miss"}': '0+2x30',
    },
    with: { cache: 'semantic' },
    quiet: {
      'conclave_cache_lookups_total{cache="semantic",result="failed"}': '0x5 1x25',
      'conclave_cache_lookups_total{cache="semantic",result="miss"}': '0+2x30',
    },
  },
  {
    name: 'ConclaveDocumentsFail',
    severity: 'warning',
    expr: grew('documents_ingested_total', 'outcome', 900, '{outcome="failed"}'),
    for: 0,
    summary: 'An uploaded document could not be read',
    description: 'Documents were uploaded whose text could not be read or embedded; they cannot be found.',
    fires: { 'conclave_documents_ingested_total{outcome="failed"}': '_x15 1x25' },
    with: { outcome: 'failed' },
    quiet: { 'conclave_documents_ingested_total{outcome="ready"}': '_x15 1x25' },
  },
  {
    name: 'ConclaveWebhooksDead',
    severity: 'warning',
    expr: grew('webhook_deliveries_total', 'webhook', 900, '{outcome="dead"}'),
    for: 0,
    summary: 'A webhook was given up',
    description: 'The webhook {{ $labels.webhook }} could not be reached; its receiver was not notified of the end of a run.',
    fires: { 'conclave_webhook_deliveries_total{webhook="team",outcome="dead"}': '_x15 1x25' },
    with: { webhook: 'team' },
    quiet: { 'conclave_webhook_deliveries_total{webhook="team",outcome="failed"}': '_x15 1x25' },
  },
  {
    name: 'ConclaveTimersDropped',
    severity: 'warning',
    expr: grew('timers_dropped_total', 'job', 900),
    for: 0,
    summary: 'A timer could not be delivered',
    description: 'A due timer was dropped by {{ $labels.job }}: a run may wait until another event reaches it.',
    fires: { 'conclave_timers_dropped_total{job="merger"}': '0x15 1x25' },
    with: { job: 'merger' },
    quiet: { 'conclave_timers_dropped_total{job="merger"}': '1x40' },
  },
  {
    name: 'ConclaveEventLoopLag',
    severity: 'warning',
    expr: () => 'nodejs_eventloop_lag_p99_seconds > 0.5 and on (job, instance) conclave_build_info',
    for: 300,
    summary: 'A process is overloaded',
    description:
      'Timers of {{ $labels.job }} at {{ $labels.instance }} are {{ $value | humanizeDuration }} late; above some seconds it loses its leases.',
    fires: {
      'nodejs_eventloop_lag_p99_seconds{job="gateway",instance="a"}': '1x30',
      'conclave_build_info{job="gateway",instance="a"}': '1x30',
    },
    with: { job: 'gateway', instance: 'a' },
    quiet: {
      'nodejs_eventloop_lag_p99_seconds{job="gateway",instance="a"}': '0.01x30',
      'conclave_build_info{job="gateway",instance="a"}': '1x30',
    },
  },
];

/** Series that rules share. */
export const recorded = (t: Duration): readonly { readonly record: string; readonly expr: string }[] => [
  // Targets that were a process of Conclave, so that the rules leave other targets of the same Prometheus alone.
  { record: 'conclave:known', expr: `group by (job, instance) (last_over_time(conclave_build_info[${t(3600)}]))` },
];
