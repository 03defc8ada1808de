import { diag, DiagLogLevel, type DiagLogger } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import pTimeout from 'p-timeout';
import { apiVersion, type Environment } from '@conclave/contracts';
import type { Logger } from '@conclave/platform';
import type { Span, Tracer } from '@conclave/ports';
import { readableSpan } from './readable-span.js';
import { samplerOf } from './sampler.js';
import { WatchedExporter } from './watched-exporter.js';

export interface TracerOptions {
  /** Whole address of the collector. */
  readonly url: string;
  readonly environment: Environment;
  /** Name of the process in the traces of each service. */
  readonly nameOf: (service: string) => string;
  readonly messagingSystem: string;
  readonly logger: Logger;
  /** Milliseconds that spans wait for a batch. */
  readonly delayMs?: number;
  /** Milliseconds of one export, its retries included. */
  readonly exportMs?: number;
  /** Milliseconds that `close` waits. */
  readonly closeMs?: number;
}

/** Spans kept while the collector does not answer, about 8 MB; later ones are dropped. */
const longestQueue = 8_192;
/** Ids of spans remembered, so that a repeat in this process is not exported again. */
const remembered = 8_192;

/** Opens an exporter. It connects with the first spans: an unavailable collector delays nothing and causes no failure. */
export const openTracer = (options: TracerOptions): Tracer => new OtlpTracer(options);

const ignore = (): void => undefined;
const silent: DiagLogger = { error: ignore, warn: ignore, info: ignore, debug: ignore, verbose: ignore };

class OtlpTracer implements Tracer {
  readonly messagingSystem: string;
  readonly samples: Tracer['samples'];
  private readonly processor: BatchSpanProcessor;
  private readonly exporter: WatchedExporter;
  private readonly resources = new Map<string, Resource>();
  private readonly recorded = new Set<string>();

  constructor(private readonly options: TracerOptions) {
    const { url, environment, logger, delayMs = 1_000, exportMs = 10_000 } = options;
    this.messagingSystem = options.messagingSystem;
    this.samples = samplerOf(environment);
    const headers = { ...environment.OTEL_EXPORTER_OTLP_HEADERS, ...environment.OTEL_EXPORTER_OTLP_TRACES_HEADERS };
    const exporter = (this.exporter = new WatchedExporter(new OTLPTraceExporter({ url, headers, timeoutMillis: exportMs }), url, logger));
    // The processor reports dropped spans only by this warning.
    const onWarning = (message: string): void => {
      if (message.startsWith('Dropped') && !exporter.isFailing)
        logger.warn('The collector accepts spans too slowly: some were dropped.', { reason: message });
    };
    diag.setLogger({ ...silent, warn: onWarning }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    this.processor = new BatchSpanProcessor({
      exporter,
      maxQueueSize: longestQueue,
      maxExportBatchSize: 512,
      scheduledDelayMillis: delayMs,
      exportTimeoutMillis: exportMs + 1_000,
    });
  }

  record(span: Span): void {
    if (this.recorded.has(span.spanId)) return;
    this.recorded.add(span.spanId);
    if (this.recorded.size > remembered) this.recorded.delete(this.recorded.values().next().value!);
    this.processor.onEnd(readableSpan(span, this.resourceOf(span.service)));
  }

  private resourceOf(service: string): Resource {
    const known = this.resources.get(service);
    if (known) return known;
    const { nameOf, environment } = this.options;
    const resource = resourceFromAttributes({
      'service.namespace': 'conclave',
      'service.version': apiVersion,
      ...environment.OTEL_RESOURCE_ATTRIBUTES,
      'service.name': nameOf(service),
    });
    this.resources.set(service, resource);
    return resource;
  }

  async close(): Promise<void> {
    const { logger, closeMs = 2_000 } = this.options;
    const flushed = this.processor.shutdown().catch((error: unknown) => logger.warn('The last traces were not exported.', { error }));
    // The outage of a collector was already reported.
    const late = (): void =>
      this.exporter.isFailing ? undefined : logger.warn('The last traces were not exported in time.', { waitedMs: closeMs });
    await pTimeout(flushed, { milliseconds: closeMs, fallback: late });
  }
}
