export type { CallTimeouts, ModelPrice, ProviderConfig, ProvidersConfig, RetrySettings } from './configuration.js';
export { discoverLocalServers, natureOf, providerFromEnvironment, usualPorts } from './discover.js';
export { openEmbeddings, type EmbeddingsConfig } from './embeddings.js';
export { openProviders } from './providers.js';
