export { openDocumentReader, type DocumentReaderOptions } from './document-reader.js';
export { openPageReader, type PageReaderOptions } from './web/page-reader.js';
export { openWebhooks, type ConfiguredWebhook, type WebhooksOptions } from './webhooks/open-webhooks.js';
export { openRemoteFiles, type RemoteFilesOptions } from './web/remote-files.js';
