import { Module, type DynamicModule } from '@nestjs/common';
import { LearningHandler } from './learning.handler.js';

/** What is learned of runs that have ended. Its own consumer group, `learning`, in the process of the merger. */
@Module({})
export class LearningModule {
  static register(): DynamicModule {
    return { module: LearningModule, controllers: [LearningHandler] };
  }
}
