import { Module, type DynamicModule } from '@nestjs/common';
import { CallsModule, type CallerOptions } from '@conclave/calls';
import { EXPERT_OPTIONS, ExpertsHandler, type ExpertOptions } from './experts.handler.js';

@Module({})
export class ExpertsModule {
  static register({
    readPages = 0,
    ...options
  }: Pick<CallerOptions, 'storePrompts' | 'permitKey' | 'repetitionLimit'> & Partial<ExpertOptions>): DynamicModule {
    return {
      module: ExpertsModule,
      imports: [CallsModule.register({ service: 'experts', ...options })],
      controllers: [ExpertsHandler],
      providers: [{ provide: EXPERT_OPTIONS, useValue: { readPages } }],
    };
  }
}
