export * from './configuration.js';
export * from './defaults.js';
export * from './environment.js';
export { ExpertSettings, TemplateId, TemplateSettings, Category } from './templates.js';
export { EnvName, ModelSettings, ProviderName, ProviderSettings } from './providers.js';
export { KafkaSettings, Neo4jSettings, RedisSettings, StoreSettings, type TlsSettings } from './stores.js';
export type { Mode } from './mode.js';
export { ReasoningOptions } from './reasoning.js';
export * from './shape.js';
