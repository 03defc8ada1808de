import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { launch, provide } from './launch.mjs';
import { freePorts } from './probes.mjs';
import { signalProcess, stopProcess, waitForExit } from './processes.mjs';

/**
 * Starts a test's own server: own ports, own data, ends with the test's process. Its ports survive `restart()`, so that
 * clients find it again.
 */
export async function startInstance(server, { folder, ports = {}, ...options } = {}) {
  const missing = await provide([server]);
  if (missing.has(server.name)) throw new Error(`${server.title} cannot run here: ${missing.get(server.name)}`);
  const ownFolder = folder ?? mkdtempSync(path.join(os.tmpdir(), `conclave-${server.name}-`));
  mkdirSync(ownFolder, { recursive: true });
  const context = { folder: ownFolder, ports: await choosePorts(server, ports), options, installed: await server.install() };
  const logFile = path.join(ownFolder, `${server.name}.log`);
  const start = () => launch(server, context, { logFile, lifetime: 'ours' });

  await server.prepare(context);
  let process = await start();

  const instance = {
    name: server.name,
    ports: context.ports,
    folder: ownFolder,
    logFile,
    environment: server.environment(context.ports),
    get pid() {
      return process.pid;
    },
    async kill(signal = 'SIGKILL') {
      signalProcess(process, signal);
      if (signal === 'SIGSTOP' || signal === 'SIGCONT') return;
      if (!(await waitForExit(process, server.stopWithinMs)))
        throw new Error(`${server.title} outlived ${signal} by ${server.stopWithinMs} ms.`);
    },
    async stop() {
      if ((await stopProcess(process, server.stopWithinMs)) === 'stopped') server.stopped(context);
    },
    async restart() {
      await instance.stop();
      process = await start();
    },
    async destroy() {
      await instance.stop();
      if (folder === undefined) rmSync(ownFolder, { recursive: true, force: true });
    },
    [Symbol.asyncDispose]: () => instance.destroy(),
  };
  return instance;
}

async function choosePorts(server, given) {
  const free = await freePorts(server.portNames.length);
  return Object.fromEntries(server.portNames.map((name, position) => [name, given[name] ?? free[position]]));
}
