import { Module, type DynamicModule } from '@nestjs/common';
import { endedReads } from '@conclave/platform';
import { LearningHandler } from './learning.handler.js';

/** Learning from ended runs: its own consumer group, `learning`, in the merger process. */
@Module({})
export class LearningModule {
  /** `forgets`: the records of a run become unreadable once all consumers have read its end. */
  static register({ forgets = false }: { readonly forgets?: boolean } = {}): DynamicModule {
    return { module: LearningModule, controllers: [LearningHandler], providers: [endedReads(forgets)] };
  }
}
