export { GraphIngestModule } from './graph-ingest.module.js';
