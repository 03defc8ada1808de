export type { CallTimeouts, ModelPrice, ProviderConfig, ProvidersConfig, RetrySettings } from './configuration.js';
export { discoverLocalServers, natureOf, providerFromEnvironment, usualPorts } from './discover.js';
export { openEmbeddings, type EmbeddingsConfig } from './embeddings.js';
export { openReranker, type RerankerConfig } from './reranker.js';
export { openProviders } from './providers.js';
