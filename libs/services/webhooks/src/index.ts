export { webhookService, WebhooksModule } from './webhooks.module.js';
