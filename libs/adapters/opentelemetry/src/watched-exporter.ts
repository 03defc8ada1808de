import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '@conclave/platform';

/** An exporter that logs once that the collector is unavailable, and once that it is back. Lost spans do not affect runs. */
export class WatchedExporter implements SpanExporter {
  private failing = false;
  get isFailing(): boolean {
    return this.failing;
  }
  private lost = 0;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly collector: string,
    private readonly logger: Logger,
  ) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.arrived();
      else this.failed(spans.length, result.error);
      // The processor would only report the failure a second time.
      done({ code: ExportResultCode.SUCCESS });
    });
  }

  private arrived(): void {
    if (this.failing) this.logger.info('The collector accepts traces again.', { collector: this.collector, lostSpans: this.lost });
    this.failing = false;
    this.lost = 0;
  }

  private failed(spans: number, error: Error | undefined): void {
    this.lost += spans;
    if (!this.failing)
      this.logger.warn('Traces do not reach the collector and are dropped; runs continue.', { collector: this.collector, error });
    this.failing = true;
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }
  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }
}
