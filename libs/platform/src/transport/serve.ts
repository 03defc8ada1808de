import 'reflect-metadata';
import pTimeout from 'p-timeout';
import { Module, type DynamicModule, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { leaseRenewMs, loadChannel, type Hints, type LoadReport } from '@conclave/ports';
import { nestLog } from '../logging/nest-log.js';
import { PortsModule, type Observers, type Ports } from '../ports-module.js';
import type { ProcessIdentity } from '../tokens.js';
import { LogTransport, type LogTransportOptions } from './log-transport.js';
import { WorkflowNames } from '../tracing/workflow-names.js';
import { RethrowFilter } from './rethrow-filter.js';
import type { Logger } from '../logging/logger.js';
import type { ClassLoad } from './task-load.js';

/** Maximum milliseconds for the last report. */
const goodbyeMs = 1_000;

/**
 * Reports to every gateway how long this worker's tasks wait, as often as leases are renewed. The next report replaces a lost one, and a
 * report that is not renewed expires at its reader. Returns a function that ends the reports.
 */
function reportLoad(parts: {
  readonly hints: Hints;
  /** Identifies the process and its service. */
  readonly worker: string;
  readonly read: () => Readonly<Record<string, ClassLoad>>;
  readonly logger: Logger;
  readonly everyMs?: number;
}): () => Promise<void> {
  const { hints, worker, read, logger, everyMs = leaseRenewMs } = parts;
  let failing = false;
  let sending: Promise<void> = Promise.resolve();
  const send = (classes: LoadReport['classes']): void => {
    const report: LoadReport = { worker, classes };
    sending = hints.publish(loadChannel, JSON.stringify(report)).then(
      () => void (failing = false),
      (error: unknown) => {
        // Without a load report from this worker, gateways admit runs.
        if (!failing) logger.warn('The load of this worker could not be reported.', { error });
        failing = true;
      },
    );
  };
  send(read());
  const timer = setInterval(() => send(read()), everyMs);
  return async () => {
    clearInterval(timer);
    send({});
    // A store that does not answer must not delay a shutdown: the report expires without it.
    await pTimeout(sending, { milliseconds: goodbyeMs, fallback: () => undefined });
  };
}

@Module({})
class ServiceRoot {}

export interface ServeOptions extends Pick<LogTransportOptions, 'service' | 'concurrency' | 'held' | 'retry' | 'graceMs'> {
  /** The service's own module. */
  readonly module: DynamicModule;
  readonly ports: Ports;
  readonly observers: Observers;
  readonly process: ProcessIdentity;
}
export interface Served {
  readonly app: INestMicroservice;
  readonly transport: LogTransport;
  close(): Promise<void>;
}

/** Starts a service's Nest module on the log, with the ports and observers injectable. Rejects if a group cannot be joined. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { service, ports, observers, process } = options;
  const logger = observers.logger.child({ service });
  const transport = new LogTransport({
    log: ports.log,
    service,
    logger,
    metrics: observers.metrics,
    classes: process.classes,
    ...(observers.tracer
      ? { tracing: { tracer: observers.tracer, process: process.id, workflows: new WorkflowNames(ports.state.runs) } }
      : {}),
    ...(options.concurrency ? { concurrency: options.concurrency } : {}),
    ...(options.held === undefined ? {} : { held: options.held }),
    ...(options.retry ? { retry: options.retry } : {}),
    ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
    published: (outputs) => ports.state.published?.(outputs),
  });
  const root: DynamicModule = {
    module: ServiceRoot,
    imports: [PortsModule.register(observers.probe.ports?.(ports, service) ?? ports, { ...observers, logger }, process), options.module],
  };
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(root, {
    strategy: transport,
    logger: nestLog(logger),
    abortOnError: false,
  });
  app.useGlobalFilters(new RethrowFilter());
  await app.listen();
  observers.readiness.add(service, () => transport.health());
  if (process.classes.length === 0) return { app, transport, close: () => app.close() };
  const endReports = reportLoad({
    hints: ports.state.hints,
    worker: `${process.id}/${service}`,
    read: () => transport.classLoads(),
    logger,
  });
  const close = async (): Promise<void> => {
    await endReports();
    await app.close();
  };
  return { app, transport, close };
}
