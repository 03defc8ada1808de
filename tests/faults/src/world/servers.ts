import { TcpProxy } from '@conclave/test-support';
import {
  freePorts,
  startKafka,
  startNeo4j,
  startRedis,
  startSearx,
  type KafkaInstance,
  type Neo4jInstance,
  type ServerInstance,
  type UrlInstance,
} from '@conclave/test-support/real-servers';
import type { Stack } from '@conclave/test-support/system';

export interface SystemRequirements {
  /** Servers that belong to the scenario, which may kill them; the others are shared. */
  readonly servers?: readonly ('kafka' | 'redis' | 'neo4j' | 'searx')[];
  /** TCP proxies between the services and these. A proxied server belongs to the scenario, too. */
  readonly proxied?: readonly ('kafka' | 'redis' | 'model')[];
  readonly gateways?: 1 | 2;
  /** Expert worker processes at the start (distributed); 1. */
  readonly experts?: number;
  /** Further sections of conclave.yaml; its templates are added to those of the load. */
  readonly configuration?: Readonly<Record<string, unknown>>;
  readonly crashAt?: Readonly<Record<string, string>>;
  /** A receiver of webhooks, for runs of a load with `webhook`. */
  readonly receiver?: true;
  /** Variables of every process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly short?: boolean;
}

/** Servers that belong to one scenario, and the proxies in front of some. */
export interface OwnServers {
  readonly kafka?: KafkaInstance;
  readonly redis?: UrlInstance;
  readonly neo4j?: Neo4jInstance;
  readonly searx?: UrlInstance;
  readonly proxies: { kafka?: TcpProxy; redis?: TcpProxy; model?: TcpProxy };
  /** Addresses as the services get them. */
  readonly addresses: Partial<Stack>;
  readonly searxUrl: string | null;
  /** Addresses without the proxies, for inspecting the system after the storm. */
  readonly direct: Partial<Stack>;
  close(): Promise<void>;
}

/** Starts the servers that belong to a scenario. `corpus`: what its own search server finds, file name -> text. */
export async function openServers(wishes: SystemRequirements, corpus: Readonly<Record<string, string>>): Promise<OwnServers> {
  const opened: { close(): Promise<void> }[] = [];
  const keep = <T extends ServerInstance>(server: T): T => {
    opened.push({ close: () => server.destroy() });
    return server;
  };
  const wants = (name: 'kafka' | 'redis' | 'neo4j' | 'searx') =>
    (wishes.servers?.includes(name) ?? false) || (wishes.proxied?.some((one) => one === name) ?? false);
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).reverse()) await one.close();
  };
  const proxies: { kafka?: TcpProxy; redis?: TcpProxy; model?: TcpProxy } = {};
  const proxyTo = async (port: number, own?: number): Promise<TcpProxy> => {
    const proxy = await TcpProxy.open({ target: { host: '127.0.0.1', port }, ...(own === undefined ? {} : { port: own }) });
    opened.push(proxy);
    return proxy;
  };
  try {
    const [advertisedPort] = await freePorts(1);
    const proxiedKafka = wishes.proxied?.includes('kafka') ?? false;
    const kafka = wants('kafka') ? keep(await startKafka(proxiedKafka ? { proxied: { advertisedPort: advertisedPort! } } : {})) : undefined;
    if (kafka && proxiedKafka) proxies.kafka = await proxyTo(kafka.proxiedPort!, advertisedPort!);
    const redis = wants('redis') ? keep(await startRedis()) : undefined;
    if (redis && wishes.proxied?.includes('redis')) proxies.redis = await proxyTo(redis.ports['redis']!);
    const neo4j = wants('neo4j') ? keep(await startNeo4j()) : undefined;
    const searx = wants('searx') ? keep(await startSearx({ documents: documentsOf(corpus) })) : undefined;
    return {
      ...(kafka ? { kafka } : {}),
      ...(redis ? { redis } : {}),
      ...(neo4j ? { neo4j } : {}),
      ...(searx ? { searx } : {}),
      proxies,
      searxUrl: searx?.url ?? null,
      addresses: {
        ...(kafka ? { KAFKA_BROKERS: proxies.kafka ? `127.0.0.1:${advertisedPort}` : kafka.brokers.join(',') } : {}),
        ...(redis ? { REDIS_URL: proxies.redis ? `redis://127.0.0.1:${proxies.redis.port}` : redis.url } : {}),
        ...(neo4j ? { NEO4J_URL: neo4j.url, NEO4J_USER: neo4j.user, NEO4J_PASSWORD: neo4j.password } : {}),
      },
      direct: {
        ...(kafka ? { KAFKA_BROKERS: kafka.brokers.join(',') } : {}),
        ...(redis ? { REDIS_URL: redis.url } : {}),
        ...(neo4j ? { NEO4J_URL: neo4j.url, NEO4J_USER: neo4j.user, NEO4J_PASSWORD: neo4j.password } : {}),
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const documentsOf = (corpus: Readonly<Record<string, string>>) =>
  Object.entries(corpus).map(([file, body]) => ({ url: `https://corpus.example/${file}`, title: file, body }));
