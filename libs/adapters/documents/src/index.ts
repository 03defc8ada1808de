export { openDocumentReader, type DocumentReaderOptions } from './document-reader.js';
export { openPageReader, type PageReaderOptions } from './web/page-reader.js';
