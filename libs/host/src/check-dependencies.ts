import { existsSync, readdirSync } from 'node:fs';
import { Failure } from '@conclave/contracts';
import type { Loaded, Logger } from '@conclave/platform';
import { kafkaConnection, mastersOf, openRedis, type Keep } from './cluster.js';
import { kafkaTopics } from './kafka-topics.js';
import { openModels, type ModelSearch } from './open-models.js';
import { openGraphServer, openToolServersOf, openVectors } from './open-capabilities.js';

/** The result of a check, for people. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'problem';
  /** One sentence that describes the finding, and what to do about it unless it is ok. */
  readonly says: string;
}

/** One thing that a process needs; `run` rejects if it cannot be reached. */
export interface DependencyCheck {
  readonly name: string;
  readonly run: () => Promise<readonly Finding[]>;
}

const ok = (says: string): Finding => ({ status: 'ok', says });
const warning = (says: string): Finding => ({ status: 'warning', says });
const problem = (says: string): Finding => ({ status: 'problem', says });

export interface CheckOptions {
  readonly loaded: Loaded;
  readonly logger: Logger;
  readonly localServers?: ModelSearch['ports'];
  /** Milliseconds since 1970 by the clock of this machine. */
  readonly now?: () => number;
}

/** Checks of every server that this configuration names. Each opens its connections, changes nothing there, and closes them again. */
export function dependencyChecks(options: CheckOptions): readonly DependencyCheck[] {
  const { loaded } = options;
  const { stores, search, mcp } = loaded.configuration;
  const check = (name: string, run: (options: CheckOptions) => Promise<readonly Finding[]>): DependencyCheck => ({
    name,
    run: () => run(options),
  });
  return [
    check('models', modelsCheck),
    ...(stores.kafka ? [check('kafka', kafkaCheck)] : []),
    ...(stores.redis ? [check('redis', redisCheck)] : []),
    ...(stores.neo4j ? [check('neo4j', graphCheck)] : []),
    ...(stores.chroma ? [check('chroma', vectorCheck)] : []),
    ...(search.searxng || search.corpus ? [check('search', searchCheck)] : []),
    ...(Object.values(mcp).some(({ enabled }) => enabled !== false) ? [check('tools', toolsCheck)] : []),
  ];
}

async function modelsCheck({ loaded, localServers }: CheckOptions): Promise<readonly Finding[]> {
  const { models, demoOnly } = await openModels(loaded, { discover: true, ...(localServers ? { ports: localServers } : {}) });
  try {
    const [providers, listed] = [await models.providers(), await models.list()];
    const found = providers.map(({ name, reachable, note }) => {
      const count = listed.filter(({ ref }) => ref.endsWith(`@${name}`)).length;
      if (!reachable) return problem(`${name} does not answer (${note}). Start it, or correct \`providers.${name}.base_url\` and its key.`);
      return count === 0
        ? warning(`${name} answers but lists no model: load one there.`)
        : ok(`${name} answers with ${count} ${count === 1 ? 'model' : 'models'}.`);
    });
    if (!demoOnly) return found;
    return [...found, warning('Only the built-in demo model answers. Start a model server, or name one under `providers`.')];
  } finally {
    await models.close();
  }
}

/** Whether the error is a refusal by an access list, recognised by its words. */
const isRefused = (error: unknown): boolean =>
  /authoriz|not authorized|ACL/i.test(error instanceof Error ? `${error.message} ${String(error.cause)}` : '');

async function kafkaCheck({ loaded, logger }: CheckOptions): Promise<readonly Finding[]> {
  const kafka = loaded.configuration.stores.kafka!;
  const { brokerCount, brokerVersion, versionSentence } = await import('@conclave/adapter-kafka');
  try {
    const brokers = await brokerCount(kafkaConnection(loaded, logger));
    const version = await brokerVersion(kafkaConnection(loaded, logger)).then(versionSentence, () => null);
    const topics = (await kafkaTopics(loaded, logger))!;
    const differences = await topics.differences();
    const copies =
      kafka.replication > brokers
        ? problem(
            `stores.kafka.replication is ${kafka.replication}, but the cluster has ${brokers} ${brokers === 1 ? 'broker' : 'brokers'}: no topic can be created.`,
          )
        : kafka.replication < 3
          ? warning(
              `Each record has ${kafka.replication} ${kafka.replication === 1 ? 'copy' : 'copies'}: if a broker is lost, acknowledged records may be lost with it. Three brokers with \`replication: 3\` survive the loss of one.`,
            )
          : ok(`${brokers} brokers, ${kafka.replication} copies of each record.`);
    const missing = differences.filter((sentence) => sentence.includes(' is missing: '));
    const rest = differences.filter((sentence) => !missing.includes(sentence));
    return [
      version === null ? warning('Its version could not be read.') : ok(version),
      copies,
      ...(missing.length === topics.planned.length
        ? [warning('No topic exists yet: the first start creates them, or `conclave topics create`.')]
        : missing.map((sentence) => problem(sentence))),
      ...rest.map((sentence) => problem(sentence)),
      ...(differences.length === 0 ? [ok(`All ${topics.planned.length} topics are as planned.`)] : []),
    ];
  } catch (error) {
    if (isRefused(error))
      return [problem(`Kafka refuses this user: \`conclave topics plan\` prints the access it needs. (${messageOf(error)})`)];
    throw error;
  }
}

async function redisCheck({ loaded, logger, now = Date.now }: CheckOptions): Promise<readonly Finding[]> {
  const opened: { close(): Promise<void> }[] = [];
  const keep: Keep = (one) => (opened.push(one), one);
  try {
    const { store, memory } = await openRedis(loaded, 'doctor', keep);
    const lacks = await store.warnings();
    const { usedBytes, maxBytes } = await memory();
    // The reply is assumed to take half of the round trip.
    const sent = now();
    const clock = await store.now();
    const skewMs = Math.round(clock - (sent + now()) / 2);
    const used = `${Math.round(usedBytes / 1e6)} MB`;
    const masters = mastersOf(loaded);
    return [
      ...(masters.length > 1
        ? [
            ok(
              `The log is sealed with the first master key; ${masters.length - 1} former ${masters.length === 2 ? 'key opens' : 'keys open'} older records.`,
            ),
          ]
        : []),
      ...(lacks.length > 0
        ? lacks.map((sentence) => warning(sentence))
        : [ok('Keeps what it acknowledges: appendonly, appendfsync always, noeviction.')]),
      maxBytes === 0
        ? warning(
            `Uses ${used}, without a limit: set \`maxmemory\` below the memory of its machine, so that it refuses writes instead of being killed.`,
          )
        : usedBytes > 0.9 * maxBytes
          ? problem(
              `Uses ${used} of ${Math.round(maxBytes / 1e6)} MB: it refuses writes when it is full. Raise \`maxmemory\`, or lower \`retention_days\`.`,
            )
          : usedBytes > 0.7 * maxBytes
            ? warning(`Uses ${used} of ${Math.round(maxBytes / 1e6)} MB. docs/guides/sizing.md says what a run needs.`)
            : ok(`Uses ${used} of ${Math.round(maxBytes / 1e6)} MB.`),
      Math.abs(skewMs) > 5_000
        ? problem(
            `Its clock differs from the clock of this machine by ${skewMs} ms: synchronise both (NTP). Deadlines follow the clock of the state store.`,
          )
        : Math.abs(skewMs) > 500
          ? warning(`Its clock differs from the clock of this machine by ${skewMs} ms: synchronise both (NTP).`)
          : ok(`Its clock differs from the clock of this machine by ${skewMs} ms.`),
      await marksFit(loaded, logger, await store.identity.read()),
    ];
  } finally {
    for (const one of opened.reverse()) await one.close();
  }
}

/** Whether log and state store belong together. */
async function marksFit(
  loaded: Loaded,
  logger: Logger,
  inStore: { readonly storeId: string; readonly generation: number } | null,
): Promise<Finding> {
  if (!loaded.configuration.stores.kafka) return ok('No log is configured beside it.');
  const { openLog } = await import('./open-log.js');
  const opened = await openLog({ loaded, logger, processId: 'doctor' });
  try {
    const onLog = (await opened?.log.identity.read().catch(absent)) ?? null;
    if (!onLog && !inStore) return ok('Neither log nor state store was used yet.');
    if (onLog && inStore && onLog.storeId === inStore.storeId && inStore.generation >= onLog.generation)
      return ok('Log and state store belong together.');
    return problem(
      'The state store is not the one of this log, or an older copy of it: check the addresses, then run `conclave recover` (docs/guides/recover.md).',
    );
  } finally {
    await opened?.close();
  }
}

/** A topic that does not exist has no mark; other errors of the cluster are reported by its own check. */
const absent = (error: unknown): null => {
  if (error instanceof Failure && error.code === 'LOG_UNAVAILABLE') return null;
  throw error;
};

async function graphCheck({ loaded }: CheckOptions): Promise<readonly Finding[]> {
  const graph = await openGraphServer(loaded);
  try {
    const red = await graph.health();
    return [
      red === null
        ? ok('Answers.')
        : problem(`${red} Start it, or correct \`stores.neo4j\` and its user and password; without it, runs learn nothing.`),
    ];
  } finally {
    await graph.close();
  }
}

async function vectorCheck({ loaded }: CheckOptions): Promise<readonly Finding[]> {
  const opened: { close(): Promise<void> }[] = [];
  const vectors = await openVectors(loaded, null, (one) => (opened.push(one), one));
  try {
    const red = await vectors!.health();
    return [
      red === null
        ? ok('Answers.')
        : problem(`${red} Start it, or correct \`stores.chroma\`; without it collections and the semantic cache do not work.`),
    ];
  } finally {
    for (const one of opened) await one.close();
  }
}

async function searchCheck({ loaded }: CheckOptions): Promise<readonly Finding[]> {
  const { searxng, corpus } = loaded.configuration.search;
  if (searxng) {
    const { openSearxng } = await import('@conclave/adapter-searxng');
    const search = openSearxng({ url: searxng });
    try {
      const red = await search.health();
      return [red === null ? ok(`SearXNG answers at ${searxng}.`) : problem(`${red} Start SearXNG, or correct \`search.searxng\`.`)];
    } finally {
      await search.close();
    }
  }
  if (!corpus || !existsSync(corpus)) return [problem(`There is no folder ${corpus}. Create it, or correct \`search.corpus\`.`)];
  const files = readdirSync(corpus, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  return [
    files === 0 ? warning(`${corpus} contains no file to search.`) : ok(`${corpus} contains ${files} ${files === 1 ? 'file' : 'files'}.`),
  ];
}

async function toolsCheck({ loaded, logger }: CheckOptions): Promise<readonly Finding[]> {
  const servers = await openToolServersOf(loaded, logger);
  try {
    // Each list is awaited only briefly, and on a busy machine a program may still be starting, so there are up to three tries.
    for (let tries = 0; tries < 3 && servers.status().some(({ ok: works, error }) => !works && error === null); tries += 1)
      await servers.offers();
    return servers.status().map(({ name, ok: works, error, tools }) => {
      if (error !== null) return problem(`${name}: ${error} Correct it under \`mcp\`, or set \`enabled: false\`.`);
      if (works) return ok(`${name} offers ${tools} ${tools === 1 ? 'tool' : 'tools'}.`);
      return warning(
        `${name} has not listed its tools yet. The first start of a program takes longer if \`npx\` or \`uvx\` has to fetch it: check again.`,
      );
    });
  } finally {
    await servers.close();
  }
}

/** The sentence of an error, for people. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
