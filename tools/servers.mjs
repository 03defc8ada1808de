// The real servers that integration and distributed tests need, started through deploy/stack.mjs.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { providePrograms } from '../deploy/stack/programs.mjs';
import { stateFolder } from '../deploy/stack/settings.mjs';
import { runInGroup } from './process-group.mjs';
import { workspaceRoot } from './workspace.mjs';

/**
 * Name as in `needs:<name>` tags and `stack up --only`, how people call it, and the variable that says it is up. What has no variable is a
 * program that only has to be installed.
 */
export const servers = {
  kafka: { title: 'Kafka', variable: 'KAFKA_BROKERS' },
  redis: { title: 'Redis', variable: 'REDIS_URL' },
  neo4j: { title: 'Neo4j', variable: 'NEO4J_URL' },
  searx: { title: 'SearXNG', variable: 'SEARXNG_URL' },
  chroma: { title: 'ChromaDB', variable: 'CHROMA_URL' },
  sympy: { title: 'SymPy' },
};

/** Addresses of the servers that are up, by variable name. */
function addresses() {
  const file = join(stateFolder, 'env.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

const stack = (command, names, limit) =>
  runInGroup(process.execPath, ['deploy/stack.mjs', command, '--only', names.join(',')], { cwd: workspaceRoot, env: process.env, limit });

/** Why a server is not there, from the line `<name> failed: <reason>` of the stack, or else its last line. */
function reasonOf(name, { output, timedOut }) {
  if (timedOut) return 'the local stack was not up in time';
  return new RegExp(`^\\s*${name}\\s+failed: (.*)$`, 'm').exec(output)?.[1] ?? (output.trim().split('\n').at(-1) || 'no reason is given');
}

/**
 * Starts the needed servers and installs the needed programs; those that are up already are used and left alone.
 *
 * @returns what is up as environment for the suites, why the others are missing by name, and how to stop what was started.
 */
export async function startServers(needed) {
  // Before the servers: two installations at once would wait for each other's lock.
  const programs = needed.filter((name) => !servers[name].variable);
  const missing = await providePrograms(programs).catch(({ message }) => new Map(programs.map((name) => [name, message])));
  const wanted = needed.filter((name) => servers[name].variable);
  if (wanted.length === 0) return { environment: {}, missing, stop: () => undefined };
  const before = addresses();
  // Downloads and Debian packages included.
  const result = await stack('up', wanted, 600);
  const environment = addresses();
  for (const name of wanted) if (!(servers[name].variable in environment)) missing.set(name, reasonOf(name, result));
  const ours = wanted.filter((name) => !(servers[name].variable in before));
  return { environment, missing, stop: () => (ours.length > 0 ? stack('down', ours, 60) : undefined) };
}
