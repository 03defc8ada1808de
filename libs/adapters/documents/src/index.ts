export { openDocumentReader, type DocumentReaderOptions } from './document-reader.js';
export { openPageReader, type PageReaderOptions } from './web/page-reader.js';
export { openRemoteFiles, type RemoteFilesOptions } from './web/remote-files.js';
export { openWebhookSender, type WebhookSenderOptions } from './web/webhook-sender.js';
