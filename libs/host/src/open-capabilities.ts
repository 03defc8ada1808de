import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { ChromaVectors } from '@conclave/adapter-chroma';
import { openDocumentReader, openPageReader } from '@conclave/adapter-documents';
import { BuiltInEmbedder } from '@conclave/adapter-embedder';
import { openToolServers } from '@conclave/adapter-mcp';
import { openEmbeddings } from '@conclave/adapter-openai';
import { openSymbolic } from '@conclave/adapter-symbolic';
import type { Sqlite } from '@conclave/adapter-sqlite';
import { Failure } from '@conclave/contracts';
import type { Loaded, Ports } from '@conclave/platform';
import type { Embedder, Vectors } from '@conclave/ports';
import type { Keep } from './cluster.js';
import { providerOf } from './open-models.js';
import type { OpenPortsOptions, ServiceName } from './open-ports.js';

export type Capabilities = Required<Pick<Ports, 'symbolic' | 'tools' | 'pages' | 'documents' | 'vectors' | 'embedder'>>;

/** Which services use what; none of it is started before it is used. */
const users: Readonly<Record<keyof Capabilities, readonly ServiceName[]>> = {
  symbolic: ['experts', 'standalone'],
  tools: ['experts', 'standalone'],
  pages: ['experts', 'standalone'],
  documents: ['gateway', 'graph-ingest', 'standalone'],
  vectors: ['gateway', 'planner', 'experts', 'merger', 'graph-ingest', 'standalone'],
  embedder: ['gateway', 'planner', 'experts', 'merger', 'graph-ingest', 'standalone'],
};

/** What the capabilities of a service work with. */
export function openCapabilities(
  { loaded, service, observers: { logger } }: OpenPortsOptions,
  sqlite: Sqlite | null,
  keep: Keep,
): Capabilities {
  const uses = (part: keyof Capabilities): boolean => users[part].includes(service);
  const { math, mcp, search } = loaded.configuration;
  const vectors = uses('vectors') ? openVectors(loaded, sqlite, keep) : null;
  return {
    symbolic: uses('symbolic')
      ? keep(openSymbolic({ ...(math.python ? { python: math.python } : {}), memoryMb: math.memory_mb, seconds: math.seconds, logger }))
      : null,
    tools: uses('tools')
      ? keep(
          openToolServers({
            servers: mcp,
            environment: loaded.variables,
            builtins: builtins(),
            ...(loaded.file ? { folder: dirname(loaded.file) } : {}),
            logger,
          }),
        )
      : null,
    pages: uses('pages') ? keep(openPageReader({ allowHosts: search.allow_hosts })) : null,
    documents: uses('documents') ? keep(openDocumentReader()) : null,
    vectors,
    embedder: vectors ? keep(openEmbedder(loaded)) : null,
  };
}

/** Null where no process shares vectors with the others: a cluster without ChromaDB. */
function openVectors({ configuration: { stores }, secrets }: Loaded, sqlite: Sqlite | null, keep: Keep): Vectors | null {
  if (stores.chroma)
    return keep(
      new ChromaVectors({
        url: stores.chroma.url,
        ...(secrets.chroma.token ? { credentials: { token: secrets.chroma.token } } : {}),
        namespace: stores.kafka?.topic_prefix ?? '',
      }),
    );
  return sqlite?.vectors ?? null;
}

/** Throws Failure CONFIGURATION_INVALID for a model of a provider that is not configured. */
function openEmbedder(loaded: Loaded): Embedder {
  const { model } = loaded.configuration.embeddings;
  if (!model) return BuiltInEmbedder.open();
  const at = model.lastIndexOf('@');
  const name = model.slice(at + 1);
  const provider = providerOf(loaded, name);
  if (!provider) throw new Failure('CONFIGURATION_INVALID', `embeddings.model: there is no provider ${name}. Name it under \`providers\`.`);
  return openEmbeddings({ name, provider, model: model.slice(0, at) });
}

/** Programs that come with the product, started with the Node that runs this process. */
function builtins(): Readonly<Record<string, { readonly command: string; readonly args: readonly string[] }>> {
  const program = createRequire(import.meta.url).resolve('@conclave/app-precision-tools/program');
  return { 'precision-tools': { command: process.execPath, args: [program, '--only-usable'] } };
}
