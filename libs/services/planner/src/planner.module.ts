import { Module, type DynamicModule, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { warmUpSoon } from '@conclave/platform';
import { CallsModule, type CallerOptions } from '@conclave/calls';
import { complexityWarmUp } from '@conclave/questions';
import { PlannerHandler, RANDOM } from './planner.handler.js';

@Module({})
export class PlannerModule implements OnApplicationBootstrap, OnModuleDestroy {
  private coolDown: () => void = () => undefined;

  static register(options: Pick<CallerOptions, 'storePrompts' | 'repetitionLimit'>): DynamicModule {
    return {
      module: PlannerModule,
      imports: [CallsModule.register({ service: 'planner', ...options })],
      controllers: [PlannerHandler],
      // Bound late, so that a simulation can replace Math.random.
      providers: [{ provide: RANDOM, useValue: () => Math.random() }],
    };
  }

  /** Compiles the patterns that read questions before the first request. */
  onApplicationBootstrap(): void {
    this.coolDown = warmUpSoon(complexityWarmUp);
  }

  onModuleDestroy(): void {
    this.coolDown();
  }
}
