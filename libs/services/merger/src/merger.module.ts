import { Module, type DynamicModule } from '@nestjs/common';
import { CallsModule, type CallerOptions } from '@conclave/calls';
import { CallRepeats } from './call-repeats.js';
import { EngineHandler } from './engine.handler.js';
import { JudgeHandler } from './judge.handler.js';
import { PARK_MS, RunParking } from './run-parking.js';
import { TimerPump } from './timer-pump.js';

export interface MergerOptions extends Pick<CallerOptions, 'storePrompts' | 'permitKey' | 'repetitionLimit'> {
  /** Milliseconds that a run whose clients were lost with their gateway waits for one to return; default 60,000. */
  readonly parkMs?: number;
}

const defaultParkMs = 60_000;

/** The run engine, its timers, and the judge. */
@Module({})
export class MergerModule {
  static register({ parkMs = defaultParkMs, ...options }: MergerOptions): DynamicModule {
    return {
      module: MergerModule,
      imports: [CallsModule.register({ service: 'merger', ...options })],
      controllers: [EngineHandler, JudgeHandler],
      providers: [TimerPump, RunParking, CallRepeats, { provide: PARK_MS, useValue: parkMs }],
    };
  }
}
