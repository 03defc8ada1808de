import { Module, type DynamicModule } from '@nestjs/common';
import { CallsModule, type CallerOptions } from '@conclave/calls';
import { DocumentIngest } from './document-ingest.js';
import { GraphIngestHandler } from './graph-ingest.handler.js';

@Module({})
export class GraphIngestModule {
  /** By default the audit stores no prompts or replies. */
  static register(options: Pick<CallerOptions, 'storePrompts'> = { storePrompts: 'none' }): DynamicModule {
    return {
      module: GraphIngestModule,
      imports: [CallsModule.register({ service: 'graph-ingest', ...options })],
      controllers: [GraphIngestHandler],
      providers: [DocumentIngest],
    };
  }
}
