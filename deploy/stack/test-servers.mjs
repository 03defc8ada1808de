// The real servers that integration and distributed tests need, started through deploy/stack.mjs.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { stateFolder } from './settings.mjs';
import { runInGroup } from '../../tests/support/jest/process-group.mjs';
import { workspaceRoot } from '../../tools/workspace.mjs';
import { provide } from './launch.mjs';

/** Debian installs SymPy for its own Python; the first python3 on PATH may be another one. */
const python = '/usr/bin/python3';

/** What integration tests need that is started by what they test: it only has to be there. */
const programs = [
  {
    name: 'sympy',
    missing: () =>
      spawnSync(python, ['-I', '-c', 'import sympy'], { timeout: 60_000, env: {} }).status === 0
        ? null
        : { reason: `no SymPy found for ${python}`, packages: ['python3-sympy'] },
  },
];

/** Installs what is missing where that is allowed; why each of the others is missing, by name. */
const providePrograms = (names, options = {}) =>
  provide(
    programs.filter(({ name }) => names.includes(name)),
    options,
  );

/** The variable that says of a server, by the name of its `needs:` tag, that it is up. What has none only has to be installed. */
const variables = { kafka: 'KAFKA_BROKERS', redis: 'REDIS_URL', neo4j: 'NEO4J_URL', searx: 'SEARXNG_URL', chroma: 'CHROMA_URL' };

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
  const programs = needed.filter((name) => !variables[name]);
  const missing = await providePrograms(programs).catch(({ message }) => new Map(programs.map((name) => [name, message])));
  const wanted = needed.filter((name) => variables[name]);
  if (wanted.length === 0) return { environment: {}, missing, stop: () => undefined };
  const before = addresses();
  // Downloads and Debian packages included.
  const result = await stack('up', wanted, 600);
  const environment = addresses();
  for (const name of wanted) if (!(variables[name] in environment)) missing.set(name, reasonOf(name, result));
  const ours = wanted.filter((name) => !(variables[name] in before));
  return { environment, missing, stop: () => (ours.length > 0 ? stack('down', ours, 60) : undefined) };
}
