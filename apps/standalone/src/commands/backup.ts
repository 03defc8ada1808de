import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolder } from '@conclave/ports';
import { Failure } from '@conclave/contracts';
import { embeddedFiles, logPlace, newProcessId, openLog } from '@conclave/host';
import { type Loaded, openLogger, terminalLines } from '@conclave/platform';
import { version } from '../version.js';
import { exitCodes } from './ask.js';
import { backupFormat, isArchive, listed, type Manifest, manifestName, readManifest, tar } from './backup-files.js';
import { typed } from './typed.js';
import { readArguments, UsageMistake } from './usage.js';

export interface BackupCommand {
  readonly loaded: () => Loaded;
  /** Arguments after the command's name. */
  readonly args: readonly string[];
  readonly out: { write(text: string): unknown };
  readonly terminal: { write(text: string): unknown };
}

export const backupHelp = `conclave backup: a copy of what Conclave keeps

  conclave backup --to <folder or file.tgz>   must not exist yet
      Embedded: the whole data folder, except for indexes that can be rebuilt; consistent while the server runs, and checked.
      With Kafka and Redis: settings, prompts, skills, issued keys and options of tenants, from the state store. What else
      must be saved there, and how: see docs/guides/operations.md.
  conclave restore <folder or file.tgz>       checks the backup, then puts it where the configuration says
      --force                                 even if there is data already, which is moved aside

  Variables, files outside of the data folder and the master key that seals the log are not in it.
`;

/** Files of a data folder that belong in its backup, besides the stores. */
const keptFiles = ['admin.key', 'lan.key', 'audit.key', 'conclave.yaml'] as const;
/** Stores of a data folder: its own, and the graph of a process that uses Kafka. */
const stores = ['.', 'graph'] as const;
const settingsFile = 'settings.ndjson';

/** Returns the exit code. Throws UsageMistake, STORE_*, LOG_UNAVAILABLE. */
export async function backupCommand({ loaded: load, args, out, terminal }: BackupCommand): Promise<number> {
  const { positionals, values } = readArguments(args, { to: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } });
  if (values.help) return (out.write(typed(backupHelp)), exitCodes.answered);
  if (values.to === undefined || positionals.length > 0) throw new UsageMistake('Say where: backup --to <folder or file.tgz>.');
  const target = resolve(values.to);
  if (existsSync(target)) throw new UsageMistake(`${target} exists. Name a new folder or file.`);
  const loaded = load();
  makeFolder(dirname(target));
  // Written beside it and renamed, so that a backup that broke off is never taken for one.
  const folder = mkdtempSync(join(dirname(target), '.conclave-backup-'));
  try {
    const isDistributed = loaded.configuration.stores.kafka !== undefined;
    const dataVersion = isDistributed ? null : await copyFolder(loaded, folder);
    const said = isDistributed ? await copySettings(loaded, folder, terminal) : `the data folder ${loaded.home}`;
    const manifest: Manifest = {
      format: backupFormat,
      kind: isDistributed ? 'distributed' : 'embedded',
      made_at: new Date().toISOString(),
      program: version,
      data_version: dataVersion,
      files: await listed(folder),
    };
    writeFileSync(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    await readManifest(folder);
    if (isArchive(target)) {
      const packed = `${folder}.tgz`;
      tar('pack', packed, folder);
      chmodSync(packed, 0o600);
      renameSync(packed, target);
    } else renameSync(folder, target);
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    out.write(`${target}: ${said}, ${manifest.files.length} files, ${(bytes / 1e6).toFixed(1)} MB, checked.\n`);
    if (loaded.file && dirname(loaded.file) !== loaded.home) out.write(`Not in it: ${loaded.file}, and the values of variables.\n`);
    return exitCodes.answered;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(`${folder}.tgz`, { force: true });
  }
}

/** Copies a data folder. Returns the version of its tables. Throws STORE_UNAVAILABLE. */
async function copyFolder({ home, configuration, file }: Loaded, folder: string): Promise<number> {
  const { copyDatabase, inspectDatabase } = await embeddedFiles();
  if (!existsSync(join(home, 'conclave.db'))) throw new Failure('STORE_UNAVAILABLE', `There is no data folder at ${home} yet.`);
  let newest = 0;
  for (const store of stores.filter((name) => existsSync(join(home, name, 'conclave.db')))) {
    makeFolder(join(folder, 'data', store), 0o700);
    const copy = join(folder, 'data', store, 'conclave.db');
    copyDatabase(join(home, store), copy);
    chmodSync(copy, 0o600);
    const { damage, version: found } = inspectDatabase(copy);
    if (damage) throw new Failure('STORE_UNAVAILABLE', `The copy of ${join(home, store)} is damaged: ${damage}`);
    newest = Math.max(newest, found);
  }
  for (const name of keptFiles) if (existsSync(join(home, name))) copyFileSync(join(home, name), join(folder, 'data', name));
  const blobs = configuration.stores.blobs?.folder;
  const from = blobs === undefined ? null : resolve(file ? dirname(file) : process.cwd(), blobs);
  // Files of bodies are written once and named by their content. The copied store does not need those that are newer.
  if (from && existsSync(from)) cpSync(from, join(folder, 'blobs'), { recursive: true, filter: (path) => !path.endsWith('.part') });
  return newest;
}

/** Copies the settings of a distributed installation from its state store. Returns a description. Throws STORE_*. */
async function copySettings(loaded: Loaded, folder: string, terminal: BackupCommand['terminal']): Promise<string> {
  const opened = await openedLog(loaded, terminal);
  try {
    const lines: string[] = [];
    for (const { name } of await opened.settings.list('')) {
      const present = await opened.settings.read(name);
      if (present) lines.push(JSON.stringify({ name, value: present.value }));
    }
    writeFileSync(join(folder, settingsFile), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
    return `${lines.length} settings of the state store beside ${logPlace(loaded)}`;
  } finally {
    await opened.close();
  }
}

async function openedLog(loaded: Loaded, terminal: BackupCommand['terminal']) {
  const logger = openLogger({ level: loaded.environment.LOG_LEVEL, sinks: [terminalLines(terminal)], fields: {} });
  const opened = await openLog({ loaded, logger, processId: newProcessId('backup') });
  if (!opened) throw new Failure('STORE_UNAVAILABLE', `There is no data in ${logPlace(loaded)}.`);
  return opened;
}

/** Returns the exit code. Throws UsageMistake, DATA_FOLDER_IN_USE, DATA_FOLDER_NEWER, STORE_*. */
export async function restoreCommand({ loaded: load, args, out, terminal }: BackupCommand): Promise<number> {
  const { positionals, values } = readArguments(args, {
    force: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  });
  if (values.help) return (out.write(typed(backupHelp)), exitCodes.answered);
  if (positionals.length !== 1) throw new UsageMistake('Name one backup: restore <folder or file.tgz>.');
  const source = resolve(positionals[0]!);
  if (!existsSync(source)) throw new UsageMistake(`There is no ${source}.`);
  const loaded = load();
  const unpacked = isArchive(source) ? mkdtempSync(join(tmpdir(), 'conclave-restore-')) : null;
  try {
    if (unpacked) tar('unpack', source, unpacked);
    const folder = unpacked ?? source;
    const manifest = await readManifest(folder);
    const here = loaded.configuration.stores.kafka ? 'distributed' : 'embedded';
    if (manifest.kind !== here)
      throw new UsageMistake(`This backup is of a ${manifest.kind} installation, and the configuration here is of an ${here} one.`);
    const said =
      here === 'embedded'
        ? await restoreFolder(loaded, folder, values.force)
        : await restoreSettings(loaded, folder, values.force, terminal);
    out.write(`${said} (backup of ${manifest.made_at}, Conclave ${manifest.program})\n`);
    return exitCodes.answered;
  } finally {
    if (unpacked) rmSync(unpacked, { recursive: true, force: true });
  }
}

/** Files that a server leaves in a data folder by itself, and that do not count as data. */
const isNoData = (name: string): boolean => /^conclave\.lock/.test(name) || name === 'gateway.json';

async function restoreFolder({ home, configuration, file }: Loaded, folder: string, force: boolean): Promise<string> {
  const { holdingFolder, inspectDatabase } = await embeddedFiles();
  const inspected = inspectDatabase(join(folder, 'data', 'conclave.db'));
  if (inspected.damage) throw new UsageMistake(`The store in this backup is damaged: ${inspected.damage}`);
  if (!inspected.readable) throw new Failure('DATA_FOLDER_NEWER', `The version of the backup is ${inspected.version}.`);
  makeFolder(home, 0o700);
  return holdingFolder(home, new Date(), () => {
    const present = readdirSync(home).filter((name) => !isNoData(name));
    const aside = `${home}.before-restore-${new Date().toISOString().replace(/[:.]/g, '-')}`;
    if (present.length > 0) {
      if (!force)
        throw new UsageMistake(
          `${home} is not empty (${present.slice(0, 3).join(', ')}). Name another folder with CONCLAVE_HOME, or add --force: its present content is moved to ${basename(aside)}.`,
        );
      mkdirSync(aside, { mode: 0o700 });
      for (const name of present) renameSync(join(home, name), join(aside, name));
    }
    cpSync(join(folder, 'data'), home, { recursive: true });
    const blobs = configuration.stores.blobs?.folder;
    if (blobs !== undefined && existsSync(join(folder, 'blobs')))
      cpSync(join(folder, 'blobs'), resolve(file ? dirname(file) : process.cwd(), blobs), { recursive: true });
    const moved = present.length > 0 ? ` Its previous content is in ${aside}.` : '';
    return `${home} is restored: ${inspected.runs} ${inspected.runs === 1 ? 'run' : 'runs'}.${moved}`;
  });
}

async function restoreSettings(loaded: Loaded, folder: string, force: boolean, terminal: BackupCommand['terminal']): Promise<string> {
  const opened = await openedLog(loaded, terminal);
  try {
    const kept = readFileSync(join(folder, settingsFile), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    let [written, left] = [0, 0];
    for (const line of kept) {
      const { name, value } = JSON.parse(line) as { name: string; value: unknown };
      const present = await opened.settings.read(name);
      if (present && !force) {
        left += 1;
        continue;
      }
      if (!(await opened.settings.write(name, present?.version ?? 0, value)))
        throw new Failure('SETTING_CHANGED', `${name} was changed meanwhile. Run the command again.`);
      written += 1;
    }
    return `${written} settings are written to the state store beside ${logPlace(loaded)}; ${left} were there already and stay${left > 0 ? ' (--force replaces them)' : ''}.`;
  } finally {
    await opened.close();
  }
}
