import { expect, it } from '@jest/globals';
import { openMetrics } from '@conclave/platform';
import { gatewayMetrics } from './gateway-metrics.js';

it('every event that the gateway reports appears in the metrics', async () => {
  const metrics = openMetrics();
  const gateway = gatewayMetrics(metrics);
  gateway.onRequest({ method: 'GET', route: '/v1/models', status: 200, ms: 20 });
  gateway.onAccepted({ template: 'conclave', origin: 'chat' });
  gateway.onAttached('runs');
  gateway.onStreamOpen('chat');
  gateway.onStreamOpen('events');
  gateway.onStreamClose('chat', 'slow');
  gateway.onFirstContent('chat', 1_500);
  gateway.onCancel('disconnect');
  gateway.onCache({ cache: 'semantic', result: 'failed' });
  const text = await metrics.text();
  for (const line of [
    'http_requests_total{route="/v1/models",status="200"} 1',
    'http_request_seconds_sum{route="/v1/models"} 0.02',
    'runs_accepted_total{template="conclave",origin="chat"} 1',
    'runs_attached_total{origin="runs"} 1',
    'streams_open{endpoint="chat"} 0',
    'streams_open{endpoint="events"} 1',
    'stream_ends_total{endpoint="chat",end="slow"} 1',
    'first_content_seconds_sum{endpoint="chat"} 1.5',
    'run_cancels_total{reason="disconnect"} 1',
    'cache_lookups_total{cache="semantic",result="failed"} 1',
  ])
    expect(text).toContain(`conclave_${line}`);
});
