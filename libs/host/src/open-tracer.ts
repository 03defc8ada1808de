import type { Loaded, Logger } from '@conclave/platform';
import type { Tracer } from '@conclave/ports';
import type { AppName } from './opening.js';

/** Services that run inside the process of another one. */
const hosts: Readonly<Record<string, string>> = { learning: 'merger', webhooks: 'merger', transport: 'merger' };

/** Opens the export of traces if a collector is configured. Without one, no part of OpenTelemetry is loaded. */
export async function openTracer(loaded: Loaded, service: AppName, logger: Logger): Promise<Tracer | null> {
  const { environment, configuration } = loaded;
  const { OTEL_SERVICE_NAME: given, OTEL_SDK_DISABLED: disabled } = environment;
  const url = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? tracesOf(environment.OTEL_EXPORTER_OTLP_ENDPOINT);
  if (url === undefined || disabled === 'true') return null;
  if (environment.OTEL_EXPORTER_OTLP_PROTOCOL === 'http/protobuf')
    logger.warn('OTEL_EXPORTER_OTLP_PROTOCOL is http/protobuf; traces are sent as JSON over HTTP.');
  const { openTracer: open } = await import('@conclave/adapter-opentelemetry');
  const nameOf = (of: string): string => given ?? `conclave-${service === 'standalone' ? (hosts[of] ?? of) : service}`;
  logger.info('Traces are exported.', { collector: url, sampler: environment.OTEL_TRACES_SAMPLER });
  const messagingSystem = service !== 'standalone' && configuration.stores.kafka ? 'kafka' : 'conclave';
  return open({ url, environment, nameOf, messagingSystem, logger });
}

const tracesOf = (base: string | undefined): string | undefined => base && `${base.replace(/\/$/, '')}/v1/traces`;
