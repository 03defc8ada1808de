import { Module, type DynamicModule } from '@nestjs/common';
import { CallsModule, type CallerOptions } from '@conclave/service-calls';
import { ExpertsHandler } from './experts.handler.js';

@Module({})
export class ExpertsModule {
  static register(options: Pick<CallerOptions, 'storePrompts'>): DynamicModule {
    return { module: ExpertsModule, imports: [CallsModule.register({ service: 'experts', ...options })], controllers: [ExpertsHandler] };
  }
}
