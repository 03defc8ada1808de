import { Module, type DynamicModule } from '@nestjs/common';
import { GraphIngestHandler } from './graph-ingest.handler.js';

@Module({})
export class GraphIngestModule {
  static register(): DynamicModule {
    return { module: GraphIngestModule, controllers: [GraphIngestHandler] };
  }
}
