/**
 * Real servers for tests: private instances, which tests may kill, and a check of what this machine can run. The shared stack of
 * `npm run stack -- up` writes its addresses to deploy/.stack/env.json; {@link stackEnvironment} reads them.
 */
import { servers } from './catalog.mjs';
import { chroma } from './chroma.mjs';
import { dockerEngine } from './docker.mjs';
import { startInstance } from './instances.mjs';
import { kafka } from './kafka.mjs';
import { explain } from './launch.mjs';
import { neo4j } from './neo4j.mjs';
import { mayInstall } from './packages.mjs';
import { freePorts } from './probes.mjs';
import { redis } from './redis.mjs';
import { searx } from './searx.mjs';
import { neo4jPassword, neo4jUser } from './settings.mjs';

export { readEnvironment as stackEnvironment } from './records.mjs';
export { freePorts } from './probes.mjs';
export { pythonClients } from './python-clients.mjs';
export { versions } from './versions.mjs';

/** A broker. `proxied: { advertisedPort }` adds a listener whose clients are sent to a proxy on that port. */
export async function startKafka({ proxied, ...options } = {}) {
  const listener = proxied && { listenPort: (await freePorts(1))[0], ...proxied };
  const instance = await startInstance(kafka, { ...options, proxied: listener });
  return Object.assign(instance, { brokers: [kafka.address(instance.ports)], proxiedPort: listener?.listenPort });
}

export async function startRedis(options = {}) {
  const instance = await startInstance(redis, options);
  return Object.assign(instance, { url: redis.address(instance.ports) });
}

export async function startNeo4j(options = {}) {
  const instance = await startInstance(neo4j, options);
  return Object.assign(instance, { url: neo4j.address(instance.ports), user: neo4jUser, password: neo4jPassword });
}

/** searx over `documents` ([{ url, title, body }]) or over a finished `corpusDb`. */
export async function startSearx(options = {}) {
  const instance = await startInstance(searx, options);
  return Object.assign(instance, { url: searx.address(instance.ports) });
}

export async function startChroma(options = {}) {
  const instance = await startInstance(chroma, options);
  return Object.assign(instance, { url: chroma.address(instance.ports) });
}

/**
 * What this machine can run, by server name: `available` and `how` for the shared stack, `local` for private
 * instances, and `reason`, a sentence, if something is missing or will be installed first.
 */
export async function prerequisites({ install = false } = {}) {
  const engine = await dockerEngine();
  return Object.fromEntries(
    servers.map((server) => {
      const missing = server.missing();
      const installable = missing !== null && missing.packages.length > 0 && mayInstall(install);
      const local = missing === null || installable;
      const docker = engine.available && server !== chroma;
      const reason = missing === null ? '' : installable ? `${missing.reason}; installed at the first start` : explain(missing);
      return [server.name, { available: local || docker, how: docker ? 'docker' : local ? 'local' : 'none', local, reason }];
    }),
  );
}
