import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { loadConfiguration, silentLogger, type Variables } from '@conclave/platform';
import type { Span } from '@conclave/ports';
import { TraceReceiver } from '@conclave/test-support';
import { openTracer } from './open-tracer.js';
import type { AppName } from './opening.js';

const folder = mkdtempSync(join(tmpdir(), 'conclave-tracer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open = (service: AppName, variables: Variables) =>
  openTracer(loadConfiguration({ CONCLAVE_HOME: folder, ...variables }, folder), service, silentLogger);

it('opens nothing without a collector, and nothing where OpenTelemetry is disabled', async () => {
  expect(await open('gateway', {})).toBeNull();
  expect(await open('gateway', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' })).toBeNull();
});

it("names the process by its service, in embedded mode each service separately, and follows the operator's settings", async () => {
  const receiver = await TraceReceiver.start();
  const at = { OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/` };
  const spanOf = (service: string, n: number): Span => ({
    ...{ traceId: 'a'.repeat(32), spanId: String(n).repeat(16), name: 'x', kind: 'internal', service, from: 1, to: 2, attributes: {} },
  });
  const named = async (app: AppName, variables: Variables): Promise<readonly string[]> => {
    const from = receiver.spans.length;
    const tracer = (await open(app, variables))!;
    for (const [n, service] of ['gateway', 'merger', 'learning'].entries()) tracer.record(spanOf(service, n + 1));
    await tracer.close();
    return receiver.spans.slice(from).map(({ service }) => service);
  };
  try {
    expect([...(await named('standalone', at))].sort()).toEqual(['conclave-gateway', 'conclave-merger', 'conclave-merger']);
    expect(await named('merger', at)).toEqual(['conclave-merger', 'conclave-merger', 'conclave-merger']);
    expect(new Set(await named('standalone', { ...at, OTEL_SERVICE_NAME: 'mine' }))).toEqual(new Set(['mine']));
    const whole = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces` };
    expect(await named('planner', whole)).toHaveLength(3);
  } finally {
    await receiver.close();
  }
});
