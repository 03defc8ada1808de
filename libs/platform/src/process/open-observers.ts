import { join } from 'node:path';
import { apiVersion, type Environment } from '@conclave/contracts';
import { fileLines, jsonLines, openLogger, terminalLines, type LogSink } from '../logging/logger.js';
import { openMetrics } from '../metrics/metrics.js';
import type { Observers } from '../ports-module.js';
import { noProbe, type OpenProbe } from './probe.js';
import { openReadiness } from './readiness.js';

export interface ObserverOptions {
  readonly environment: Environment;
  readonly processId: string;
  readonly service: string;
  /**
   * Set if a person uses the terminal: it gets warnings and errors only, `<home>/conclave.log` gets everything. Otherwise JSON lines go to
   * standard output.
   */
  readonly interactive?: { readonly home: string; readonly terminal: { write(text: string): unknown } };
  /** Only tests have one. */
  readonly openProbe?: OpenProbe | undefined;
}

/** Logger, metrics, probe and readiness of one process, from its environment. */
export function openObservers({ environment, processId, service, interactive, openProbe }: ObserverOptions): Observers {
  const sinks: readonly LogSink[] = interactive
    ? [terminalLines(interactive.terminal), fileLines(join(interactive.home, 'conclave.log'))]
    : [jsonLines(process.stdout)];
  const logger = openLogger({ level: environment.LOG_LEVEL, sinks, fields: { service, process: processId } });
  const metrics = openMetrics({ runtime: true });
  metrics.set('build_info', { version: apiVersion, service, node: process.versions.node }, 1);
  return {
    logger,
    metrics,
    probe: openProbe?.({ processId, service, logger }) ?? noProbe,
    readiness: openReadiness(),
  };
}
