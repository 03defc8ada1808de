export * from './access.js';
export * from './accounts.js';
export * from './audit.js';
export * from './usage.js';
export * from './collections.js';
export * from './embeddings.js';
export * from './errors.js';
export * from './feedback.js';
export * from './settings.js';
export {
  AnswerFacts,
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  ChatDelta,
  ChatMessage,
  ChatUsage,
  ConclaveOptions,
  ContentPart,
  FinishReason,
  PassedChatRequest,
  UrlCitation,
} from './chat.js';
export * from './completions.js';
export * from './dead-letters.js';
export * from './graph.js';
export * from './health.js';
export * from './insights.js';
export * from '../configuration/key-limits.js';
export * from './messages.js';
export * from './models.js';
export * from './operators.js';
export { cacheHeader, headerOf, headerOptions, keepAliveHeader, limitNames, taskHeader, wordOptions } from './option-headers.js';
export * from './responses.js';
export * from './routes.js';
export * from './runs.js';
export * from './sessions.js';
export * from './webhooks.js';
