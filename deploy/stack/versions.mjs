/**
 * All versions of the stack. Local servers are fetched in these versions; docker-compose.yml repeats them, and
 * `deploy/src/versions.spec.ts` compares both.
 */
export const versions = {
  /** Release of the major version that the Dockerfile names. */
  node: '24.21.0',
  /** Scala build and release of the broker; 4.4.0 does not resolve from Maven Central. */
  kafka: '4.3.1',
  /** One artifact contains the main class and the community server. Runs on Java 17 and 21. */
  neo4j: '5.26.30',
  /** The version in Debian 12. Other 7.x or Valkey servers on PATH are used as they are. */
  redis: '7.0.15',
  /** SearXNG for Docker; without Docker, its predecessor searx from Debian answers in the same JSON shape. */
  searxng: '2026.9.25-12f8b6515',
  searx: '1.1.0',
  /** npm package; the server inside it is the native binding named in deploy/stack/chroma/package.json. */
  chromadb: '3.5.0',
  /** Server image of ChromaDB; its API is the one that the client of the npm package speaks. */
  chromaServer: '1.5.9',
  openWebui: '0.12.4',
};

/** Image of each store service of docker-compose.yml. */
export const images = {
  kafka: `apache/kafka:${versions.kafka}`,
  redis: `redis:${versions.redis}-bookworm`,
  neo4j: `neo4j:${versions.neo4j}-community`,
  searxng: `searxng/searxng:${versions.searxng}`,
  chroma: `chromadb/chroma:${versions.chromaServer}`,
  'open-webui': `ghcr.io/open-webui/open-webui:v${versions.openWebui}`,
};

/** Broker settings that affect behaviour, the same with and without Docker. */
export const kafkaSettings = {
  'auto.create.topics.enable': 'false',
  'offsets.topic.replication.factor': '1',
  'offsets.topic.num.partitions': '4',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
  'group.initial.rebalance.delay.ms': '0',
  'group.min.session.timeout.ms': '1000',
  // Without these two settings, every restart of a single broker waits 12-16 s for its own old session to end.
  'broker.session.timeout.ms': '3000',
  'broker.heartbeat.interval.ms': '500',
  'log.cleaner.dedupe.buffer.size': '4194304',
  'num.network.threads': '2',
  'num.io.threads': '4',
  'background.threads': '2',
};

/** Redis keeps every acknowledged write; when full, it refuses new writes instead of dropping data. */
export const redisArguments = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory-policy', 'noeviction'];
