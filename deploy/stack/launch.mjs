import { installCommand, installPackages, mayInstall } from './packages.mjs';
import { isPortFree, waitUntilAnswers } from './probes.mjs';
import { lastLines, startProcess, stopProcess } from './processes.mjs';
import { portVariables } from './settings.mjs';

/** Installs what the servers need if allowed. Throws a sentence with the command to run if something is still missing. */
export async function provide(servers, { install = false, say = () => undefined } = {}) {
  const lacking = servers.map((server) => ({ server, missing: server.missing() })).filter(({ missing }) => missing !== null);
  const packages = [...new Set(lacking.flatMap(({ missing }) => missing.packages))];
  if (packages.length > 0 && mayInstall(install)) {
    say(`installing Debian packages: ${packages.join(' ')}`);
    await installPackages(packages);
  }
  const failures = servers.map((server) => [server.name, server.missing()]).filter(([, missing]) => missing !== null);
  return new Map(failures.map(([name, missing]) => [name, explain(missing)]));
}

/** One sentence: what is missing and the command that installs it. */
export function explain({ reason, packages }) {
  const command = installCommand(packages);
  return command === null ? reason : `${reason}; to install it: ${command}`;
}

/**
 * Starts a prepared server and resolves once it answers its own protocol.
 * @param context `{ folder, ports, options, installed }`
 * @param started called with the process as soon as it exists, before it answers
 */
export async function launch(server, context, { logFile, lifetime, started = () => undefined }) {
  for (const name of server.portNames) await requirePort(server, name, context.ports[name]);
  const process = await startProcess(server.command(context), logFile, lifetime);
  try {
    started(process);
    await waitUntilAnswers(() => server.probe(context.ports), { withinMs: server.readyWithinMs, ended: process.exited });
    return process;
  } catch (error) {
    await stopProcess(process, 2_000);
    throw new Error(`${server.title} did not start: ${error.message}. The end of ${logFile}:\n${lastLines(logFile)}`, { cause: error });
  }
}

async function requirePort(server, name, port) {
  if (await isPortFree(port)) return;
  const [variable] = portVariables[name];
  throw new Error(
    `Port ${port} for ${server.name} is taken by another program. Stop that program, or choose another port with ${variable}.`,
  );
}
