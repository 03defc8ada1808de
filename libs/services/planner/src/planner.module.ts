import { Module, type DynamicModule } from '@nestjs/common';
import { CallsModule, type CallerOptions } from '@conclave/service-calls';
import { PlannerHandler, RANDOM } from './planner.handler.js';

@Module({})
export class PlannerModule {
  static register(options: Pick<CallerOptions, 'storePrompts'>): DynamicModule {
    return {
      module: PlannerModule,
      imports: [CallsModule.register({ service: 'planner', ...options })],
      controllers: [PlannerHandler],
      // Bound late, so that a simulation which replaces the chance of its world is heard.
      providers: [{ provide: RANDOM, useValue: () => Math.random() }],
    };
  }
}
