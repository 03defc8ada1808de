import { linkSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identify, isAlive } from './processes.mjs';
import { stateFolder } from './settings.mjs';

/** Records of what `up` started, one JSON file per server, so that a later `down` stops exactly that. */

const recordsFolder = path.join(stateFolder, 'started');
const environmentFile = path.join(stateFolder, 'env.json');
const lockFile = path.join(stateFolder, 'lock.json');

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw new Error(`${file} cannot be read: ${error.message}. Delete it if nothing of the stack runs.`, { cause: error });
  }
}

function writeJson(file, value) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** `{ name, how: 'local' | 'docker', pid?, startedAt?, ports, folder?, log?, environment, since }` of each started server. */
export function readRecords() {
  try {
    return readdirSync(recordsFolder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => readJson(path.join(recordsFolder, name)));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

export const readRecord = (name) => readJson(path.join(recordsFolder, `${name}.json`));

export const writeRecord = (record) => writeJson(path.join(recordsFolder, `${record.name}.json`), record);

export const removeRecord = (name) => rmSync(path.join(recordsFolder, `${name}.json`), { force: true });

/** Writes env.json from the records, or removes it if there are none. Returns the addresses. */
export function writeEnvironment() {
  const environment = Object.assign({}, ...readRecords().map((record) => record.environment));
  if (Object.keys(environment).length === 0) rmSync(environmentFile, { force: true });
  else writeJson(environmentFile, environment);
  return environment;
}

/** Addresses of the shared stack, such as `{ KAFKA_BROKERS, REDIS_URL }`; null when `up` has not run. */
export const readEnvironment = () => readJson(environmentFile);

/** Runs the action while no other `up` or `down` runs; waits for a running one. Takes over the lock of a dead process. */
export async function withLock(action, { say, waitMs = 600_000 }) {
  mkdirSync(stateFolder, { recursive: true });
  const end = Date.now() + waitMs;
  let told = false;
  for (let holder = takeLock(); holder !== null; holder = takeLock()) {
    if (Date.now() > end)
      throw new Error(`Another stack command (process ${holder.pid}) has run for ${waitMs / 1000} s. Wait for its end, then try again.`);
    if (!told) say(`Waiting for another stack command (process ${holder.pid}).`);
    told = true;
    await pause(250);
  }
  try {
    return await action();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/** Takes the lock and returns null, or returns its living holder. */
function takeLock() {
  for (;;) {
    const claim = `${lockFile}.${process.pid}`;
    try {
      // Written under another name and then linked, so that no process reads a half-written file.
      writeFileSync(claim, JSON.stringify(identify(process.pid)));
      linkSync(claim, lockFile);
      return null;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    } finally {
      rmSync(claim, { force: true });
    }
    const holder = readJson(lockFile);
    if (holder !== null && isAlive(holder)) return holder;
    rmSync(lockFile, { force: true });
  }
}
