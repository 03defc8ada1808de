import { type FailureCode, failures } from '@conclave/contracts';
import { measureCall, type Metrics } from '@conclave/platform';
import type { GatewayMetrics } from '../options.js';

/** Maps what the gateway reports to the platform's metrics. */
export const gatewayMetrics = (metrics: Metrics): GatewayMetrics => ({
  onRequest: ({ route, status }) => metrics.count('http_requests_total', { route, status: String(status) }),
  onRefused: (code) => {
    const row = failures[code as FailureCode] ?? failures.INTERNAL;
    metrics.count('http_errors_total', { error_type: row.errorType });
    if (refusals.has(code)) metrics.count('runs_refused_total', { reason: code.toLowerCase() });
  },
  onStreamOpen: (kind) => metrics.add('streams_open', { endpoint: kind }, 1),
  onStreamClose: (kind) => metrics.add('streams_open', { endpoint: kind }, -1),
  onCache: ({ cache, result }) => metrics.count(cacheCounters[result], { cache }),
  // Runs and calls are counted from the events: RunCompleted, CallRecorded.
  onAccepted: () => undefined,
  onAttached: () => undefined,
  onFirstContent: () => undefined,
  onCancel: () => undefined,
  onParked: () => metrics.count('parked_runs_total', {}),
  // Direct calls pass through no consumer, where other calls are counted.
  onCall: (call) => measureCall(metrics, call),
});

const cacheCounters = { hit: 'cache_hits_total', miss: 'cache_misses_total', failed: 'cache_failures_total' } as const;
const refusals: ReadonlySet<string> = new Set(['OVERLOADED', 'QUEUE_TOO_LONG', 'NOT_READY', 'SHUTTING_DOWN']);
