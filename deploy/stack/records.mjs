import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { identify, isAlive } from './processes.mjs';
import { stateFolder } from './settings.mjs';

/** What `up` started, one JSON file per server, so that a later `down` stops exactly that. */

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
    return readdirSync(recordsFolder).filter((name) => name.endsWith('.json')).map((name) => readJson(path.join(recordsFolder, name)));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

export const readRecord = (name) => readJson(path.join(recordsFolder, `${name}.json`));

export const writeRecord = (record) => writeJson(path.join(recordsFolder, `${record.name}.json`), record);

export const removeRecord = (name) => rmSync(path.join(recordsFolder, `${name}.json`), { force: true });

/** Writes env.json from the records, or removes it when nothing is left. Returns the addresses. */
export function writeEnvironment() {
  const environment = Object.assign({}, ...readRecords().map((record) => record.environment));
  if (Object.keys(environment).length === 0) rmSync(environmentFile, { force: true });
  else writeJson(environmentFile, environment);
  return environment;
}

/** Addresses of the shared stack, such as `{ KAFKA_BROKERS, REDIS_URL }`; null when `up` has not run. */
export const readEnvironment = () => readJson(environmentFile);

/** Runs the action while no other `up` or `down` runs. A lock whose holder died is taken over. */
export async function withLock(action) {
  mkdirSync(stateFolder, { recursive: true });
  const mine = JSON.stringify(identify(process.pid));
  const take = () => writeFileSync(lockFile, mine, { flag: 'wx' });
  try {
    take();
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const holder = readJson(lockFile);
    if (holder !== null && isAlive(holder)) {
      throw new Error(`Another stack command runs (process ${holder.pid}). Wait for its end, then try again.`, { cause: error });
    }
    rmSync(lockFile, { force: true });
    take();
  }
  try {
    return await action();
  } finally {
    rmSync(lockFile, { force: true });
  }
}
