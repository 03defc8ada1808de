import { expect, it } from '@jest/globals';
import { parseEnvironment, readEnvironment } from './environment.js';

it('reads the pairs and the addresses that OpenTelemetry names', () => {
  const environment = readEnvironment({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a=b, x-tenant=1',
    OTEL_RESOURCE_ATTRIBUTES: '',
  });
  expect(environment).toMatchObject({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    OTEL_EXPORTER_OTLP_HEADERS: { authorization: 'Bearer a=b', 'x-tenant': '1' },
    OTEL_TRACES_SAMPLER: 'parentbased_always_on',
  });
  expect(environment.OTEL_RESOURCE_ATTRIBUTES).toBeUndefined();
});

it.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', '127.0.0.1:4318', 'an http or https address'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a secret without a name', 'name=value'],
  ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a secret=%zz', 'name=value'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'http/json'],
  ['OTEL_TRACES_SAMPLER_ARG', '2', 'from 0 to 1'],
])('refuses %s=%s, says what is allowed, and shows no header', (name, value, allowed) => {
  const { mistakes } = parseEnvironment({ [name]: value });
  expect(mistakes).toEqual([expect.objectContaining({ where: name, remedy: expect.stringContaining(allowed) })]);
  expect(JSON.stringify(mistakes)).not.toContain('secret');
});
