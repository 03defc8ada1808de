// Starts the real servers for integration and distributed tests through deploy/stack.mjs.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { stateFolder } from './settings.mjs';
import { runInGroup } from '../../tests/support/jest/process-group.mjs';
import { workspaceRoot } from '../../tools/workspace.mjs';
import { helm } from './helm.mjs';
import { imageNode } from './image-node.mjs';
import { provide } from './launch.mjs';
import { findOnPath } from './processes.mjs';
import { pythonClients } from './python-clients.mjs';

/** Debian installs SymPy for its own Python; the first python3 on PATH may be another one. */
const python = '/usr/bin/python3';

/** Programs that integration tests only need installed: the code under test starts them. */
const programs = [
  {
    name: 'sympy',
    missing: () =>
      spawnSync(python, ['-I', '-c', 'import sympy'], { timeout: 60_000, env: {} }).status === 0
        ? null
        : { reason: `no SymPy found for ${python}`, packages: ['python3-sympy'] },
  },
  {
    name: 'prometheus',
    missing: () =>
      findOnPath('prometheus') && findOnPath('promtool') ? null : { reason: 'no prometheus and promtool found', packages: ['prometheus'] },
  },
  {
    // Imports of the functions for Open WebUI, which itself includes them.
    name: 'open-webui',
    missing: () =>
      spawnSync(process.env.OPEN_WEBUI_PYTHON ?? python, ['-c', 'import aiohttp, pydantic'], { timeout: 60_000 }).status === 0
        ? null
        : { reason: `no aiohttp and pydantic found for ${python}`, packages: ['python3-aiohttp', 'python3-pydantic'] },
  },
  {
    // The browser in which the console and third-party web pages are tested.
    name: 'chromium',
    missing: () =>
      spawnSync(process.env.CHROMIUM ?? '/usr/bin/chromium', ['--version'], { timeout: 60_000 }).status === 0
        ? null
        : { reason: 'no /usr/bin/chromium found', packages: ['chromium'] },
  },
  helm,
  pythonClients,
  imageNode,
];

/** Installs what is missing if allowed; returns why each of the others is missing, by name. */
async function providePrograms(names) {
  const wanted = programs.filter(({ name }) => names.includes(name));
  const missing = await provide(wanted);
  for (const { name, install } of wanted)
    if (install && !missing.has(name)) await install().catch(({ message }) => missing.set(name, message));
  return missing;
}

/** Variable with the address of a running server, by its `needs:` tag. A tag without one only has to be installed. */
const variables = { kafka: 'KAFKA_BROKERS', redis: 'REDIS_URL', neo4j: 'NEO4J_URL', searx: 'SEARXNG_URL', chroma: 'CHROMA_URL' };

/** Addresses of the running servers, by variable name. */
function addresses() {
  const file = join(stateFolder, 'env.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

const stack = (command, names, limit) =>
  runInGroup(process.execPath, ['deploy/stack.mjs', command, '--only', names.join(',')], { cwd: workspaceRoot, env: process.env, limit });

/** Why a server is missing, from the stack's line `<name> failed: <reason>`, otherwise from its last line. */
function reasonOf(name, { output, timedOut }) {
  if (timedOut) return 'the local stack was not up in time';
  return new RegExp(`^\\s*${name}\\s+failed: (.*)$`, 'm').exec(output)?.[1] ?? (output.trim().split('\n').at(-1) || 'no reason is given');
}

/**
 * Starts the needed servers and installs the needed programs; uses servers that already run and leaves them running.
 *
 * @returns the environment for the suites, the reason per missing server, and a function that stops what was started.
 */
export async function startServers(needed) {
  // Before the servers: two concurrent installations would block on the same lock.
  const programs = needed.filter((name) => !variables[name]);
  const missing = await providePrograms(programs).catch(({ message }) => new Map(programs.map((name) => [name, message])));
  const wanted = needed.filter((name) => variables[name]);
  if (wanted.length === 0) return { environment: {}, missing, stop: () => undefined };
  const before = addresses();
  // The timeout includes downloads and Debian packages.
  const result = await stack('up', wanted, 600);
  const environment = addresses();
  for (const name of wanted) if (!(variables[name] in environment)) missing.set(name, reasonOf(name, result));
  const ours = wanted.filter((name) => !(variables[name] in before));
  return { environment, missing, stop: () => (ours.length > 0 ? stack('down', ours, 60) : undefined) };
}
