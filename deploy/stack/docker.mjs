import { passwords } from '../compose-passwords.mjs';
import { run } from './processes.mjs';
import { composeFile, neo4jPassword, openComposeFile, portVariables } from './settings.mjs';

/** A separate project, so that the stack never touches containers of `docker compose up`. */
const project = 'conclave-stack';

/** Service of docker-compose.yml for each server of the stack. ChromaDB always runs without Docker. */
export const services = { kafka: 'kafka', redis: 'redis', neo4j: 'neo4j', searx: 'searxng' };

/**
 * Checks for an engine that answers and a compose command; a `docker` program alone proves nothing.
 * Resolves to `{ available, reason, compose }`, where `compose` is the command that worked.
 */
export async function dockerEngine() {
  try {
    await run('docker', ['info', '--format', '{{.ServerVersion}}'], { withinMs: 5_000 });
  } catch (error) {
    return { available: false, reason: `no Docker engine answers (${error.message.split('\n')[0]})` };
  }
  for (const compose of [['docker', 'compose'], ['docker-compose']]) {
    try {
      await run(compose[0], [...compose.slice(1), 'version', '--short'], { withinMs: 5_000 });
      return { available: true, reason: '', compose };
    } catch {
      // Ignored: tries the other spelling; with neither, compose is missing (below).
    }
  }
  return { available: false, reason: 'a Docker engine answers, but docker compose is not installed' };
}

function compose(engine, args, ports) {
  // Compose requires a value for each variable, even for parts that are not started or are replaced by the second file.
  const unused = Object.fromEntries(passwords.map((name) => [name, 'of-the-local-stack']));
  const env = { ...unused, NEO4J_PASSWORD: neo4jPassword };
  for (const [name, [variable]] of Object.entries(portVariables)) env[variable] = String(ports[name]);
  const [program, ...first] = engine.compose;
  return run(program, [...first, '-p', project, '-f', composeFile, '-f', openComposeFile, ...args], { env, withinMs: 900_000 });
}

/** Starts the services in the background and waits for their health checks. */
export const composeUp = (engine, names, ports) => compose(engine, ['up', '-d', '--wait', ...names.map((name) => services[name])], ports);

/** Removes the containers of these servers; their data stays in named volumes. */
export const composeRemove = async (engine, names, ports) => {
  await compose(engine, ['rm', '--stop', '--force', ...names.map((name) => services[name])], ports);
};

/** Removes every container of the project; with `data`, also the data. */
export const composeDown = (engine, ports, { data = false } = {}) =>
  compose(engine, ['down', '--remove-orphans', ...(data ? ['--volumes'] : [])], ports);
