import { Module, type DynamicModule } from '@nestjs/common';
import { LearningHandler } from './learning.handler.js';

/** Learning from ended runs: its own consumer group, `learning`, in the merger process. */
@Module({})
export class LearningModule {
  static register(): DynamicModule {
    return { module: LearningModule, controllers: [LearningHandler] };
  }
}
