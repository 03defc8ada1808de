import { type FailureCode, failures } from '@conclave/contracts';
import { measureCall, type Metrics } from '@conclave/platform';
import type { GatewayMetrics } from '../options.js';

/** Maps what the gateway reports to the platform's metrics. */
export const gatewayMetrics = (metrics: Metrics): GatewayMetrics => ({
  onRequest: ({ route, status, ms }) => {
    metrics.count('http_requests_total', { route, status: String(status) });
    metrics.observe('http_request_seconds', { route }, ms / 1000);
  },
  onRefused: (code) => {
    const row = failures[code as FailureCode] ?? failures.INTERNAL;
    metrics.count('http_errors_total', { error_type: row.errorType });
    if (refusals.has(code)) metrics.count('runs_refused_total', { reason: code.toLowerCase() });
  },
  onStreamOpen: (kind) => metrics.add('streams_open', { endpoint: kind }, 1),
  onStreamClose: (kind, end) => {
    metrics.add('streams_open', { endpoint: kind }, -1);
    metrics.count('stream_ends_total', { endpoint: kind, end });
  },
  onCache: (lookup) => metrics.count('cache_lookups_total', lookup),
  onAccepted: (run) => metrics.count('runs_accepted_total', run),
  onAttached: (origin) => metrics.count('runs_attached_total', { origin }),
  onFirstContent: (kind, ms) => metrics.observe('first_content_seconds', { endpoint: kind }, ms / 1000),
  onCancel: (reason) => metrics.count('run_cancels_total', { reason }),
  onParked: () => metrics.count('parked_runs_total', {}),
  // Direct calls pass through no consumer, where all other calls are counted.
  onCall: (call) => measureCall(metrics, call),
});

const refusals: ReadonlySet<string> = new Set(['OVERLOADED', 'QUEUE_TOO_LONG', 'NOT_READY', 'SHUTTING_DOWN']);
