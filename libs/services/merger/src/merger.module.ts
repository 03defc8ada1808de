import { Module, type DynamicModule } from '@nestjs/common';
import { CallsModule, type CallerOptions } from '@conclave/service-calls';
import { EngineHandler } from './engine.handler.js';
import { JudgeHandler } from './judge.handler.js';
import { TimerPump } from './timer-pump.js';

/** The run engine, its timers, and the judge. */
@Module({})
export class MergerModule {
  static register(options: Pick<CallerOptions, 'storePrompts'>): DynamicModule {
    return {
      module: MergerModule,
      imports: [CallsModule.register({ service: 'merger', ...options })],
      controllers: [EngineHandler, JudgeHandler],
      providers: [TimerPump],
    };
  }
}
