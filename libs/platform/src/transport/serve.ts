import 'reflect-metadata';
import { Module, type DynamicModule, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { nestLog } from '../logging/nest-log.js';
import { PortsModule, type Observers, type Ports } from '../ports-module.js';
import type { ProcessIdentity } from '../tokens.js';
import { reportLoad } from './load-report.js';
import { LogTransport, type LogTransportOptions } from './log-transport.js';
import { RethrowFilter } from './rethrow-filter.js';

@Module({})
class ServiceRoot {}

export interface ServeOptions extends Pick<LogTransportOptions, 'service' | 'concurrency' | 'retry' | 'graceMs'> {
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

/** Starts a service's Nest module on the log, with the ports and observers injectable. Rejects when a group cannot be joined. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { service, ports, observers, process } = options;
  const logger = observers.logger.child({ service });
  const transport = new LogTransport({
    log: ports.log,
    service,
    logger,
    metrics: observers.metrics,
    classes: process.classes,
    ...(options.concurrency ? { concurrency: options.concurrency } : {}),
    ...(options.retry ? { retry: options.retry } : {}),
    ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
  });
  const root: DynamicModule = {
    module: ServiceRoot,
    imports: [PortsModule.register(ports, { ...observers, logger }, process), options.module],
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
