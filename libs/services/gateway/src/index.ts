export { configureHttp, createGatewayApp } from './create-app.js';
export { GatewayModule } from './gateway.module.js';
export { settingOffers } from './prompts/setting-offers.js';
export { outcomeWords, progressText } from './chat/progress-text.js';
export { Acceptance, type AcceptedRun } from './runs/acceptance.js';
export type { CheckedRequest } from './runs/checked-request.js';
export { Documents } from './collections/documents.js';
export { FeedbackController } from './feedback/feedback.controller.js';
export { Commands } from './runs/commands.js';
export { RunsController } from './runs/runs.controller.js';
export { type Following, StreamHub, type Viewer } from './stream/stream-hub.js';
export { Connections } from './stream/connections.js';
export { configuredKeys, knownKeys, type NamedKey } from './http/configured-keys.js';
export { signInLink, Sessions } from './sessions/sessions.js';
export { isLoopback } from './http/hosts.js';
export { gatewayMetrics } from './operations/gateway-metrics.js';
export { Health } from './operations/health.js';
export {
  type ApiKeys,
  type ConsumerHealth,
  defaultLimits,
  type DescribedModel,
  GATEWAY_LIMITS,
  GATEWAY_OPTIONS,
  type GatewayLimits,
  type GatewayMetrics,
  type GatewayOptions,
  type KeyOwner,
  type PassageSearch,
  type Resolved,
  type StreamEnd,
  type StreamKind,
  type TemplateSource,
} from './options.js';
