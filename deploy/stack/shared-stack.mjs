import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { servers } from './catalog.mjs';
import { composeDown, composeRemove, composeUp, dockerEngine, services } from './docker.mjs';
import { launch, provide } from './launch.mjs';
import { waitUntilAnswers } from './probes.mjs';
import { isAlive, stopProcess } from './processes.mjs';
import { readRecord, readRecords, removeRecord, writeEnvironment, writeRecord } from './records.mjs';
import { stackPorts, stateFolder } from './settings.mjs';

/** The stack that `npm run stack` starts once, shared by everything on the machine. */

const serverOf = (record) => servers.find((server) => server.name === record.name);
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;
const line = (name, text) => `  ${name.padEnd(7)} ${text}`;

/** 'up', 'gone' (its process ended) or 'silent' (runs, but does not answer). */
async function stateOf(record) {
  if (record.how === 'local' && !isAlive(record)) return 'gone';
  try {
    await waitUntilAnswers(() => serverOf(record).probe(record.ports), { withinMs: 3_000 });
    return 'up';
  } catch {
    return record.how === 'local' ? 'silent' : 'gone'; // the caller prints the state; the server's log has the cause
  }
}

/**
 * Starts the servers that are not up yet, with fresh data unless `keep`. Prints the reason for each server that could not
 * be started, and resolves to their number.
 */
export async function up(chosen, { keep = false, install = false, how, options = {}, say }) {
  const ports = stackPorts();
  const failures = [];
  const fail = (server, error) => {
    failures.push(server.name);
    say(line(server.name, `failed: ${error.message}`));
  };
  const toStart = [];
  for (const server of chosen) {
    if (await needsStart(server, { say, fail })) toStart.push(server);
  }
  if (toStart.length === 0) {
    if (failures.length === 0) say('Everything asked for is already up; nothing to do.');
    return failures.length;
  }

  const engine = how === 'local' ? { available: false, reason: 'not asked for' } : await dockerEngine();
  if (how === 'docker' && !engine.available) throw new Error(`The stack cannot use Docker: ${engine.reason}.`);
  const inDocker = engine.available ? await startInDocker(engine, toStart, { ports, keep, how, say }) : [];
  const local = toStart.filter((server) => !inDocker.includes(server));

  const missing = await provide(local, { install, say });
  await Promise.all(
    local.map(async (server) => {
      try {
        if (missing.has(server.name)) throw new Error(missing.get(server.name));
        await startLocally(server, { ports, keep, options: options[server.name] ?? {}, say });
      } catch (error) {
        fail(server, error);
      }
    }),
  );
  writeEnvironment();
  return failures.length;
}

async function needsStart(server, { say, fail }) {
  const record = readRecord(server.name);
  if (record === null) return true;
  const state = await stateOf(record);
  if (state === 'up') {
    say(line(server.name, `is already up at ${server.address(record.ports)}`));
    return false;
  }
  if (state === 'silent') {
    fail(
      server,
      new Error(`process ${record.pid} runs but does not answer; see ${record.log}, then npm run stack -- down --only ${server.name}`),
    );
    return false;
  }
  say(line(server.name, 'was started before but is gone; starting it again'));
  removeRecord(server.name);
  return true;
}

async function startLocally(server, { ports, keep, options, say }) {
  const begun = Date.now();
  const folder = path.join(stateFolder, 'data', server.name);
  const log = path.join(stateFolder, `${server.name}.log`);
  const installed = await server.install();
  const installedAfter = seconds(begun);
  if (!keep) rmSync(folder, { recursive: true, force: true });
  rmSync(log, { force: true });
  mkdirSync(folder, { recursive: true });
  const own = Object.fromEntries(server.portNames.map((name) => [name, ports[name]]));
  const context = { folder, ports: own, options, installed };
  await server.prepare(context);
  const starting = Date.now();
  try {
    const process = await launch(server, context, {
      logFile: log,
      lifetime: 'detached',
      started: ({ pid, startedAt }) =>
        writeRecord({
          name: server.name,
          how: 'local',
          pid,
          startedAt,
          ports: own,
          folder,
          log,
          environment: server.environment(own),
          since: new Date().toISOString(),
        }),
    });
    say(
      line(
        server.name,
        `${server.title} answers at ${server.address(own)} after ${seconds(begun)} ` +
          `(fetched ${installedAfter}, started ${seconds(starting)}, process ${process.pid})`,
      ),
    );
  } catch (error) {
    removeRecord(server.name);
    throw error;
  }
}

/** Resolves to the servers that now run in containers; none if that failed and they may be started locally. */
async function startInDocker(engine, toStart, { ports, keep, how, say }) {
  const chosen = toStart.filter((server) => services[server.name] !== undefined);
  if (chosen.length === 0) return [];
  const begun = Date.now();
  const names = chosen.map((server) => server.name);
  try {
    if (!keep && !readRecords().some((record) => record.how === 'docker')) await composeDown(engine, ports, { data: true });
    await composeUp(engine, names, ports);
    for (const server of chosen) {
      await waitUntilAnswers(() => server.probe(ports), { withinMs: server.readyWithinMs });
      const own = Object.fromEntries(server.portNames.map((name) => [name, ports[name]]));
      writeRecord({ name: server.name, how: 'docker', ports: own, environment: server.environment(own), since: new Date().toISOString() });
      say(line(server.name, `answers at ${server.address(own)} in a container after ${seconds(begun)}`));
    }
    return chosen;
  } catch (error) {
    await composeRemove(engine, names, ports);
    if (how === 'docker') throw error;
    chosen.forEach((server) => removeRecord(server.name));
    say(`Docker could not start the stack, so it is started without: ${error.message.trim().split('\n').at(-1)}`);
    return [];
  }
}

/** Stops only what `up` started. Resolves to the number of servers that could not be stopped. */
export async function down(chosen, { say }) {
  const records = readRecords().filter((record) => chosen === undefined || chosen.some((server) => server.name === record.name));
  if (records.length === 0) say('Nothing that was asked for is up; nothing to do.');
  let failures = 0;
  await Promise.all(
    records
      .filter((record) => record.how === 'local')
      .map(async (record) => {
        const server = serverOf(record);
        const begun = Date.now();
        try {
          const how = await stopProcess(record, server.stopWithinMs);
          if (how === 'stopped') server.stopped({ folder: record.folder });
          removeRecord(record.name);
          say(
            line(
              record.name,
              { gone: 'was gone already', stopped: `stopped after ${seconds(begun)}`, killed: `killed after ${seconds(begun)}` }[how],
            ),
          );
        } catch (error) {
          failures += 1;
          say(line(record.name, `could not be stopped: ${error.message}`));
        }
      }),
  );
  const inDocker = records.filter((record) => record.how === 'docker').map((record) => record.name);
  if (inDocker.length > 0) await stopInDocker(inDocker, say);
  writeEnvironment();
  return failures;
}

async function stopInDocker(names, say) {
  const engine = await dockerEngine();
  if (!engine.available) throw new Error(`${names.join(', ')} run in containers, but ${engine.reason}.`);
  await composeRemove(engine, names, stackPorts());
  names.forEach(removeRecord);
  if (!readRecords().some((record) => record.how === 'docker')) await composeDown(engine, stackPorts());
  names.forEach((name) => say(line(name, 'container removed')));
}

/** Prints one line per server. Resolves to the number of started servers that do not answer. */
export async function status({ say }) {
  say(`  ${'server'.padEnd(7)} ${'state'.padEnd(8)} ${'how'.padEnd(7)} ${'process'.padEnd(8)} address`);
  let broken = 0;
  for (const server of servers) {
    const record = readRecord(server.name);
    const state = record === null ? 'off' : await stateOf(record);
    if (record !== null && state !== 'up') broken += 1;
    const columns = [
      state.padEnd(8),
      (record?.how ?? '-').padEnd(7),
      String(record?.pid ?? '-').padEnd(8),
      record === null ? '-' : server.address(record.ports),
    ];
    say(line(server.name, columns.join(' ')));
  }
  return broken;
}
