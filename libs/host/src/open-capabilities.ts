import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Sqlite } from '@conclave/adapter-sqlite';
import { Failure } from '@conclave/contracts';
import { countedReranker, timedVectors, type Loaded, type Logger, type Metrics, type Ports } from '@conclave/platform';
import type { Embedder, KnowledgeGraph, Reranking, Rerankings, ToolServers, Vectors, WebhookSender } from '@conclave/ports';
import type { Keep } from './cluster.js';
import { providerOf } from './open-models.js';
import type { OpenPortsOptions, AppName } from './opening.js';

export type Capabilities = Required<
  Pick<Ports, 'symbolic' | 'tools' | 'pages' | 'documents' | 'vectors' | 'embedder' | 'rerankings' | 'webhooks'>
>;

/** The services that use each port. Its programs start on first use. */
const users: Readonly<Record<keyof Capabilities, readonly AppName[]>> = {
  symbolic: ['experts', 'standalone'],
  tools: ['experts', 'standalone'],
  pages: ['experts', 'standalone'],
  documents: ['gateway', 'graph-ingest', 'experts', 'standalone'],
  vectors: ['gateway', 'planner', 'experts', 'merger', 'graph-ingest', 'standalone'],
  embedder: ['gateway', 'planner', 'experts', 'merger', 'graph-ingest', 'standalone'],
  rerankings: ['experts', 'standalone'],
  webhooks: ['gateway', 'merger', 'standalone'],
};

/** Opens the ports for a service's capabilities; null for those that the service does not use. */
export async function openCapabilities(
  { loaded, service, observers: { logger, metrics } }: OpenPortsOptions,
  sqlite: Sqlite | null,
  keep: Keep,
): Promise<Capabilities> {
  const uses = (part: keyof Capabilities): boolean => users[part].includes(service);
  const { math, search } = loaded.configuration;
  const opened = uses('vectors') ? await openVectors(loaded, sqlite, keep) : null;
  const vectors = opened && timedVectors(opened, metrics);
  return {
    symbolic: uses('symbolic')
      ? keep(
          (await import('@conclave/adapter-symbolic')).openSymbolic({
            ...(math.python ? { python: math.python } : {}),
            memoryMb: math.memory_mb,
            seconds: math.seconds,
            logger,
          }),
        )
      : null,
    tools: uses('tools') ? keep(await openToolServersOf(loaded, logger)) : null,
    pages: uses('pages') ? keep((await import('@conclave/adapter-documents')).openPageReader({ allowHosts: search.allow_hosts })) : null,
    documents: uses('documents') ? keep((await import('@conclave/adapter-documents')).openDocumentReader()) : null,
    vectors,
    embedder: vectors ? keep(await openEmbedder(loaded)) : null,
    rerankings: uses('rerankings') ? await openRerankings(loaded, metrics, keep) : { research: null, collections: null },
    webhooks: uses('webhooks') ? await openWebhooks(loaded) : null,
  };
}

/** The configured tool servers; none is started before its tools are requested. */
export async function openToolServersOf(loaded: Loaded, logger: Logger): Promise<ToolServers> {
  return (await import('@conclave/adapter-mcp')).openToolServers({
    servers: loaded.configuration.mcp,
    environment: loaded.variables,
    builtins: builtins(),
    ...(loaded.file ? { folder: dirname(loaded.file) } : {}),
    logger,
  });
}

/** The graph server of `stores.neo4j`. */
export async function openGraphServer({ configuration, secrets }: Loaded): Promise<KnowledgeGraph> {
  const { neo4j, kafka } = configuration.stores;
  if (!neo4j) throw new Failure('CONFIGURATION_INVALID', 'stores.neo4j is not set.');
  const { Neo4jGraph } = await import('@conclave/adapter-neo4j');
  const { user = '', password = '' } = secrets.neo4j;
  return new Neo4jGraph({
    url: neo4j.url,
    user,
    password,
    ...(neo4j.database ? { database: neo4j.database } : {}),
    namespace: kafka?.topic_prefix ?? '',
  });
}

/** Null if no webhook is configured and clients may name none. Throws CONFIGURATION_INVALID. */
async function openWebhooks({ configuration, secrets }: Loaded): Promise<WebhookSender | null> {
  const { webhooks, webhook_delivery: delivery } = configuration;
  const { client_hosts: clientHosts, timeout_s: seconds } = delivery;
  if (Object.keys(webhooks).length === 0 && clientHosts.length === 0) return null;
  const addresses = Object.entries(webhooks).flatMap(([name, { url = secrets.webhooks[name]?.url }]) => (url === undefined ? [] : [url]));
  const { openWebhookSender } = await import('@conclave/adapter-documents');
  return openWebhookSender({ operatorHosts: addresses.map((url) => new URL(url).host), clientHosts, timeoutMs: seconds * 1_000 });
}

/** Null if processes cannot share vectors: a cluster without ChromaDB. */
export async function openVectors(
  { configuration: { stores }, secrets }: Loaded,
  sqlite: Sqlite | null,
  keep: Keep,
): Promise<Vectors | null> {
  if (stores.chroma) {
    const { ChromaVectors } = await import('@conclave/adapter-chroma');
    return keep(
      new ChromaVectors({
        url: stores.chroma.url,
        ...(secrets.chroma.token ? { credentials: { token: secrets.chroma.token } } : {}),
        namespace: stores.kafka?.topic_prefix ?? '',
      }),
    );
  }
  return sqlite?.vectors ?? null;
}

/** Throws Failure CONFIGURATION_INVALID for a model of an unconfigured provider. */
async function openEmbedder(loaded: Loaded): Promise<Embedder> {
  const { model } = loaded.configuration.embeddings;
  if (!model) return (await import('@conclave/adapter-embedder')).BuiltInEmbedder.open();
  const at = model.lastIndexOf('@');
  const name = model.slice(at + 1);
  const { openEmbeddings, natureOf } = await import('@conclave/adapter-openai');
  const provider = providerOf(loaded, name, natureOf);
  if (!provider) throw new Failure('CONFIGURATION_INVALID', `embeddings.model: there is no provider ${name}. Name it under \`providers\`.`);
  const price = loaded.configuration.models[model]?.price;
  return openEmbeddings({ name, provider, model: model.slice(0, at), ...(price ? { price } : {}) });
}

/** Throws Failure CONFIGURATION_INVALID for a model of an unconfigured provider. */
async function openRerankings(loaded: Loaded, metrics: Metrics, keep: Keep): Promise<Rerankings> {
  const { research, collections } = loaded.configuration.rerank;
  const opened = async (retrieval: keyof Rerankings, settings: typeof research): Promise<Reranking | null> => {
    if (!settings) return null;
    const { model, candidates, timeout_s: seconds } = settings;
    const at = model.lastIndexOf('@');
    const name = model.slice(at + 1);
    const { openReranker, natureOf } = await import('@conclave/adapter-openai');
    const provider = providerOf(loaded, name, natureOf);
    if (!provider)
      throw new Failure('CONFIGURATION_INVALID', `rerank.${retrieval}.model: there is no provider ${name}. Name it under \`providers\`.`);
    const reranker = keep(openReranker({ name, provider, model: model.slice(0, at) }));
    return { reranker: countedReranker(reranker, retrieval, metrics), candidates, withinMs: seconds * 1000 };
  };
  return { research: await opened('research', research), collections: await opened('collections', collections) };
}

/**
 * Shipped programs, started with this process's Node. Located through their package, not relative to this file, so that sources under test
 * start the built program too.
 */
function builtins(): Readonly<Record<string, { readonly command: string; readonly args: readonly string[] }>> {
  const manifest = createRequire(import.meta.url).resolve('@conclave/app-precision-tools/package.json');
  const program = join(dirname(manifest), '../../dist/precision-tools.js');
  return { 'precision-tools': { command: process.execPath, args: [program, '--only-usable'] } };
}
