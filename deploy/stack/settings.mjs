import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of this package: `deploy/`. */
export const deployFolder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
/** Folder for what `up` writes: records of started servers, their logs and data, env.json. */
export const stateFolder = path.resolve(process.env.CONCLAVE_STACK_HOME || path.join(deployFolder, '.stack'));
/** Downloads that outlive a stack. Safe to delete while nothing runs. */
export const cacheFolder = path.resolve(process.env.CONCLAVE_STACK_CACHE || path.join(stateFolder, 'cache'));
export const composeFile = path.resolve(deployFolder, '..', 'docker-compose.yml');
/** The changes that the local stack makes to it. */
export const openComposeFile = path.resolve(deployFolder, 'stack', 'docker-compose.open.yml');

/** Environment variable, default: the ports of `npm run stack -- up`. All on 127.0.0.1. */
export const portVariables = {
  kafka: ['CONCLAVE_STACK_KAFKA_PORT', 19092],
  kafkaController: ['CONCLAVE_STACK_KAFKA_CONTROLLER_PORT', 19093],
  redis: ['CONCLAVE_STACK_REDIS_PORT', 16379],
  neo4j: ['CONCLAVE_STACK_NEO4J_PORT', 17687],
  searx: ['CONCLAVE_STACK_SEARX_PORT', 18888],
  chroma: ['CONCLAVE_STACK_CHROMA_PORT', 18100],
};

/** Ports of the shared stack by name. Throws a sentence that names the variable with an invalid port. */
export function stackPorts(environment = process.env) {
  return Object.fromEntries(
    Object.entries(portVariables).map(([name, [variable, fallback]]) => {
      const written = environment[variable];
      const port = written === undefined || written === '' ? fallback : Number(written);
      if (!Number.isInteger(port) || port < 1 || port > 65_535) {
        throw new Error(`${variable}=${written} is not a port. Set it to a number from 1 to 65535, or leave it unset for ${fallback}.`);
      }
      return [name, port];
    }),
  );
}

export const neo4jUser = 'neo4j';
/** The server listens on loopback only; the password exercises the driver's authentication. Neo4j requires 8 characters. */
export const neo4jPassword = process.env.NEO4J_PASSWORD || 'conclave-local';
