export { configureHttp, createGatewayApp } from './create-app.js';
export { GatewayModule } from './gateway.module.js';
export { progressText } from './chat/progress-text.js';
export { Connections } from './stream/connections.js';
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
  type Resolved,
  type StreamEnd,
  type StreamKind,
  type TemplateCatalogue,
} from './options.js';
