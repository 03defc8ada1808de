import { Module, type DynamicModule } from '@nestjs/common';
import { CallsModule, type CallerOptions } from '@conclave/calls';
import { endedReads } from '@conclave/platform';
import { DocumentIngest } from './document-ingest.js';
import { GraphIngestHandler } from './graph-ingest.handler.js';

@Module({})
export class GraphIngestModule {
  /**
   * By default the audit stores no prompts or replies. `forgets`: the records of a run become unreadable once all consumers have read its end.
   */
  static register(
    { forgets = false, ...options }: Pick<CallerOptions, 'storePrompts' | 'repetitionLimit'> & { readonly forgets?: boolean } = {
      storePrompts: 'none',
    },
  ): DynamicModule {
    return {
      module: GraphIngestModule,
      imports: [CallsModule.register({ service: 'graph-ingest', ...options })],
      controllers: [GraphIngestHandler],
      providers: [DocumentIngest, endedReads(forgets)],
    };
  }
}
