import { Inject, Injectable, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import type { Service } from '@conclave/contracts';
import { LOGGER, METRICS, PROBE, PROCESS, type Logger, type Metrics, type Probe, type ProcessIdentity } from '@conclave/platform';
import { MODELS, RUN_STREAM, STATE, type Models, type RunStream, type StateStore } from '@conclave/ports';
import { CallMaker } from './call-maker.js';
import { CapabilityGuard } from './capability-guard.js';
import { PermitKey } from './permit.js';

export const CALL_MAKER = Symbol('CallMaker');
/** The PermitKey of a service. */
export const PERMIT_KEY = Symbol('PermitKey');
const CALLER = Symbol('CallerOptions');

export interface CallerOptions {
  readonly service: Service;
  readonly storePrompts: 'full' | 'hash' | 'none';
  /** As in `CallMakerParts`; absent: the default of the configuration. */
  readonly repetitionLimit?: number;
  /** Secret from which the key of capability tokens is derived; absent: a secret that the state store keeps. */
  readonly permitKey?: string | undefined;
}

@Injectable()
class CancelCloser implements OnApplicationShutdown {
  constructor(@Inject(CALL_MAKER) private readonly maker: CallMaker) {}
  async onApplicationShutdown(): Promise<void> {
    await this.maker.close();
  }
}

/** Provides a service's CallMaker over the ports of the process. */
@Module({})
export class CallsModule {
  static register(options: CallerOptions): DynamicModule {
    return {
      module: CallsModule,
      providers: [
        { provide: CALLER, useValue: options },
        {
          provide: PERMIT_KEY,
          inject: [CALLER, STATE],
          useFactory: ({ permitKey }: CallerOptions, state: StateStore) => new PermitKey(state.once, permitKey),
        },
        {
          provide: CALL_MAKER,
          inject: [CALLER, STATE, RUN_STREAM, MODELS, PROBE, LOGGER, METRICS, PROCESS, PERMIT_KEY],
          useFactory: (
            { service, storePrompts, repetitionLimit }: CallerOptions,
            state: StateStore,
            stream: RunStream,
            models: Models,
            probe: Probe,
            logger: Logger,
            metrics: Metrics,
            process: ProcessIdentity,
            key: PermitKey,
          ) => {
            const guard = new CapabilityGuard({ state, metrics, logger, key });
            const own = {
              processId: process.id,
              service,
              storePrompts,
              guard,
              ...(repetitionLimit === undefined ? {} : { repetitionLimit }),
            };
            return new CallMaker({ state, stream, models, probe, logger, metrics, ...own });
          },
        },
        CancelCloser,
      ],
      exports: [CALL_MAKER, PERMIT_KEY],
    };
  }
}
