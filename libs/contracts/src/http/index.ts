export * from './collections.js';
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
export * from './dead-letters.js';
export * from './health.js';
export * from './insights.js';
export * from './models.js';
export * from './routes.js';
export * from './runs.js';
