import { Module, type DynamicModule } from '@nestjs/common';
import { CallsModule, type CallerOptions } from '@conclave/service-calls';
import { PlannerHandler } from './planner.handler.js';

@Module({})
export class PlannerModule {
  static register(options: Pick<CallerOptions, 'storePrompts'>): DynamicModule {
    return { module: PlannerModule, imports: [CallsModule.register({ service: 'planner', ...options })], controllers: [PlannerHandler] };
  }
}
