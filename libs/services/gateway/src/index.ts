export { configureHttp, createGatewayApp } from './create-app.js';
export { GatewayModule } from './gateway.module.js';
export { progressText } from './chat/progress-text.js';
export { Connections } from './stream/connections.js';
export { Health } from './operations/health.js';
export {
  type ApiKeys,
  type ConsumerHealth,
  defaultLimits,
  type DescribedModel,
  GATEWAY_LIMITS,
  GATEWAY_OPTIONS,
  type GatewayLimits,
  type GatewayLogger,
  type GatewayMetrics,
  type GatewayOptions,
  type GatewayPoint,
  type HistoryLine,
  type Resolved,
  type StreamEnd,
  type StreamKind,
  type TemplateCatalogue,
} from './options.js';
