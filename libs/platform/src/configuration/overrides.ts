import {
  environmentProvider,
  KafkaSettings,
  Neo4jSettings,
  ProviderSettings,
  RedisSettings,
  type Configuration,
  type Environment,
} from '@conclave/contracts';

/** Puts what the environment says in the place of what the file says. OPENAI_BASE_URL becomes the provider `openai`. */
export function applyOverrides(configuration: Configuration, environment: Environment): Configuration {
  const { stores } = configuration;
  const { KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, REDIS_URL, NEO4J_URL, OPENAI_BASE_URL, OPENAI_API_KEY, SEARXNG_URL } = environment;
  const prefix = KAFKA_TOPIC_PREFIX === undefined ? {} : { topic_prefix: KAFKA_TOPIC_PREFIX };
  const kafka = KAFKA_BROKERS
    ? KafkaSettings.parse({ ...stores.kafka, brokers: KAFKA_BROKERS, ...prefix })
    : stores.kafka && { ...stores.kafka, ...prefix };
  // A REDIS_URL that lies around for another program does not change an embedded Conclave.
  const redis = REDIS_URL && (kafka || stores.redis) ? RedisSettings.parse({ ...stores.redis, url: REDIS_URL }) : stores.redis;
  const neo4j = NEO4J_URL ? Neo4jSettings.parse({ ...stores.neo4j, url: NEO4J_URL }) : stores.neo4j;
  const providers = OPENAI_BASE_URL
    ? {
        ...configuration.providers,
        [environmentProvider]: ProviderSettings.parse({
          ...configuration.providers[environmentProvider],
          base_url: OPENAI_BASE_URL,
          ...(OPENAI_API_KEY && !configuration.providers[environmentProvider]?.api_key_file ? { api_key_env: 'OPENAI_API_KEY' } : {}),
        }),
      }
    : configuration.providers;
  return {
    ...configuration,
    providers,
    search: SEARXNG_URL ? { ...configuration.search, searxng: SEARXNG_URL, corpus: undefined } : configuration.search,
    stores: { ...stores, ...(kafka ? { kafka } : {}), ...(redis ? { redis } : {}), ...(neo4j ? { neo4j } : {}) },
  };
}
