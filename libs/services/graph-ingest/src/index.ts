export { DocumentIngest } from './document-ingest.js';
export { GraphIngestHandler } from './graph-ingest.handler.js';
export { GraphIngestModule } from './graph-ingest.module.js';
export { chunksOf, embeddedText, storedText } from './documents/chunks.js';
