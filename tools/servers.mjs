// The real servers that integration and distributed tests need, started through deploy/stack.mjs.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { providePrograms } from '../deploy/stack/programs.mjs';
import { stateFolder } from '../deploy/stack/settings.mjs';
import { runInGroup } from './process-group.mjs';
import { workspaceRoot } from './workspace.mjs';

/**
 * Name as in `needs:<name>` tags and `stack up --only`, the variable that says it is up, and how people call it. What has no variable is a
 * program that only has to be installed.
 */
export const servers = {
  kafka: { variable: 'KAFKA_BROKERS', title: 'Kafka' },
  redis: { variable: 'REDIS_URL', title: 'Redis' },
  neo4j: { variable: 'NEO4J_URL', title: 'Neo4j' },
  searx: { variable: 'SEARXNG_URL', title: 'SearXNG' },
  chroma: { variable: 'CHROMA_URL', title: 'ChromaDB' },
  sympy: { title: 'SymPy' },
};

const stack = join(workspaceRoot, 'deploy/stack.mjs');
const environmentFile = join(stateFolder, 'env.json');
/** Downloads and Debian packages included. */
const startLimitSeconds = 600;

/** Addresses of the servers that are up, by variable name. */
function addresses() {
  return existsSync(environmentFile) ? JSON.parse(readFileSync(environmentFile, 'utf8')) : {};
}

function isUp(name, environment) {
  return environment[servers[name].variable] !== undefined;
}

/** Why a server is not there, from the line `<name> failed: <reason>` of the stack, or else its last line. */
function reasonOf(name, { output, timedOut }) {
  if (timedOut) return `the local stack was not up within ${startLimitSeconds} s`;
  const failed = new RegExp(`^\\s*${name}\\s+failed: (.*)$`, 'm').exec(output);
  return failed?.[1] ?? output.trim().split('\n').at(-1) ?? 'the local stack gave no reason';
}

/**
 * Starts the needed servers and installs the needed programs; those that are up already are used and left alone.
 *
 * @returns what is up as environment for the suites, why the others are missing, and how to stop what was started.
 */
export async function startServers(needed) {
  const wanted = needed.filter((name) => servers[name].variable);
  // Before the servers: two installations at once would wait for each other's lock.
  const lacking = await missingPrograms(needed.filter((name) => !servers[name].variable));
  if (wanted.length === 0) return { environment: {}, missing: lacking, seconds: 0, stop: async () => ({ code: 0, output: '' }) };
  const before = addresses();
  const result = await runInGroup(process.execPath, [stack, 'up', '--only', wanted.join(',')], {
    cwd: workspaceRoot,
    env: process.env,
    limit: startLimitSeconds,
  });
  const environment = addresses();
  const missing = new Map([...lacking, ...wanted.filter((name) => !isUp(name, environment)).map((name) => [name, reasonOf(name, result)])]);
  return { environment, missing, seconds: result.seconds, stop: () => stopServers(wanted.filter((name) => !isUp(name, before))) };
}

async function missingPrograms(names) {
  try {
    return await providePrograms(names);
  } catch (error) {
    return new Map(names.map((name) => [name, error.message]));
  }
}

/** Stops servers of the local stack; those that are not up are no error. */
export async function stopServers(names) {
  if (names.length === 0) return { code: 0, output: '' };
  return runInGroup(process.execPath, [stack, 'down', '--only', names.join(',')], { cwd: workspaceRoot, env: process.env, limit: 60 });
}
