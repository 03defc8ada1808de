import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Environment } from '@conclave/contracts';
import { openLogger, traceIdOfRun, type LogLine } from '@conclave/platform';
import type { Span } from '@conclave/ports';
import { TraceReceiver, until } from '@conclave/test-support';
import { openTracer, type TracerOptions } from './index.js';

const traceId = 'ab'.repeat(16);
const spanId = (n: number): string => n.toString(16).padStart(16, '0');
const span = (n: number, over: Partial<Span> = {}): Span => ({
  ...{ traceId, spanId: spanId(n), name: `work ${n}`, kind: 'internal', service: 'merger', from: 1_000.5, to: 1_002 },
  attributes: { 'conclave.run.id': 'run_1', list: ['a', 'b'] },
  ...over,
});

function opened(over: Partial<TracerOptions> & { readonly variables?: Record<string, string> }) {
  const lines: LogLine[] = [];
  const logger = openLogger({ level: 'info', sinks: [{ write: (line) => void lines.push(line), close: () => undefined }] });
  const tracer = openTracer({
    ...{ url: 'http://127.0.0.1:9/v1/traces', logger, messagingSystem: 'conclave', nameOf: (service) => `conclave-${service}` },
    ...{ environment: Environment.parse(over.variables ?? {}), delayMs: 20, exportMs: 300, closeMs: 500 },
    ...over,
  });
  return { tracer, lines };
}

describe('the export of spans', () => {
  let receiver: TraceReceiver | undefined;
  afterEach(() => receiver?.close());

  it('sends ids, parents, links, events, errors and the name of the service unchanged, with the configured headers', async () => {
    receiver = await TraceReceiver.start();
    const variables = {
      OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=2',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=th%20ree',
      OTEL_RESOURCE_ATTRIBUTES: 'k=v',
    };
    const { tracer, lines } = opened({ url: `${receiver.url}/v1/traces`, variables });
    tracer.record(span(1, { kind: 'client', error: 'provider_error', events: [{ name: 'cancelled', at: 1_001 }] }));
    tracer.record(span(2, { parentId: spanId(1), service: 'planner', links: [{ traceId, spanId: spanId(9) }] }));
    tracer.record(span(1));
    await tracer.close();
    expect(receiver.spans).toEqual([
      {
        ...{
          traceId,
          spanId: spanId(1),
          parentId: null,
          name: 'work 1',
          kind: 'client',
          service: 'conclave-merger',
          from: 1_000.5,
          to: 1_002,
        },
        attributes: { 'conclave.run.id': 'run_1', list: ['a', 'b'], 'conclave.service': 'merger', 'error.type': 'provider_error' },
        ...{ isError: true, links: [], events: ['cancelled'] },
      },
      expect.objectContaining({ spanId: spanId(2), parentId: spanId(1), service: 'conclave-planner', isError: false, links: [spanId(9)] }),
    ]);
    expect([receiver.headers['a'], receiver.headers['b']]).toEqual(['1', 'th ree']);
    expect(receiver.bodies[0]).toContain('"k"');
    expect(lines).toEqual([]);
  });

  it('reports once that a collector is unavailable and once that it is back, and drops spans that do not fit', async () => {
    receiver = await TraceReceiver.start();
    receiver.status = 400;
    const { tracer, lines } = opened({ url: `${receiver.url}/v1/traces` });
    for (let n = 1; n <= 3; n += 1) {
      tracer.record(span(n));
      await until('the export', () => lines.length > 0);
    }
    receiver.status = 200;
    tracer.record(span(4));
    await until('the collector to be back', () => lines.length > 1);
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'Traces do not reach the collector and are dropped; runs continue.'],
      ['info', 'The collector accepts traces again.'],
    ]);
    await tracer.close();
  });

  it('costs nothing while nobody listens: memory is bounded, and the close is short', async () => {
    // A server that accepts connections and never answers is the slowest kind of outage.
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    try {
      const { tracer, lines } = opened({
        url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1/traces`,
        exportMs: 400,
        closeMs: 200,
      });
      for (let n = 1; n <= 20_000; n += 1) tracer.record(span(n));
      const { processor } = tracer as unknown as { processor: { _finishedSpans: unknown[] } };
      expect(processor._finishedSpans.length).toBeLessThanOrEqual(8_192);
      const closing = performance.now();
      await tracer.close();
      expect(performance.now() - closing).toBeLessThan(2_000);
      expect(lines.map(({ message }) => message)).toEqual(['The last traces were not exported in time.']);
    } finally {
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
  });
});

describe('sampling', () => {
  const samples = (variables: Record<string, string>) => opened({ variables }).tracer.samples;
  const sampled = { spanId: spanId(1), sampled: true };
  const left = { spanId: spanId(1), sampled: false };

  it.each([
    [{}, [true, true, false]],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, [true, true, true]],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, [false, false, false]],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, [false, true, false]],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, [false, false, false]],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, [false, true, false]],
  ] as [Record<string, string>, boolean[]][])(
    '%j decides on a new trace, and on one that a client records or does not record',
    (variables, expected) => {
      const decide = samples(variables);
      expect([decide(traceId, undefined), decide(traceId, sampled), decide(traceId, left)]).toEqual(expected);
    },
  );

  it('samples a share of the traces by their id, so that every gateway decides alike', () => {
    const [one, two] = [0, 1].map(() => samples({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }));
    const ids = Array.from({ length: 2_000 }, (_, n) => traceIdOfRun(`run_${n}`));
    const taken = ids.filter((id) => one!(id, undefined));
    expect(taken.length / ids.length).toBeGreaterThan(0.2);
    expect(taken.length / ids.length).toBeLessThan(0.3);
    expect(ids.filter((id) => two!(id, undefined))).toEqual(taken);
  });
});
