export type { CallTimeouts, ModelPrice, ProviderConfig, ProvidersConfig, RetrySettings } from './configuration.js';
export * from './discover.js';
export { openProviders } from './providers.js';
