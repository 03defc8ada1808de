import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import pTimeout from 'p-timeout';
import { dependencyChecks, type DependencyCheck, embeddedFiles, type Finding, messageOf, type OpenPortsOptions } from '@conclave/host';
import { type Loaded, openLogger } from '@conclave/platform';
import { usualPort } from '../listen.js';
import { exitCodes } from './ask.js';
import { openDeadAccess } from './dead-access.js';
import { findGateway } from './running-gateway.js';
import { typed } from './typed.js';
import { readArguments, UsageMistake } from './usage.js';

export const doctorHelp = `conclave doctor: checks what Conclave needs here, and says what to fix

  One line for each check: ok, warning or problem, with what to do. Changes nothing. --json prints all as one object.
  Exit code 1 if there is a problem. Run it where the services run, with their variables and configuration.
`;

export interface DoctorCommand {
  readonly loaded: () => Loaded;
  readonly args: readonly string[];
  readonly out: { write(text: string): unknown };
  readonly localServers?: OpenPortsOptions['localServers'];
}

/** Longest time of one check in milliseconds. */
const checkMs = 20_000;

/** Returns the exit code: `failed` if there is a problem. Throws UsageMistake. */
export async function doctorCommand({ loaded: load, args, out, localServers }: DoctorCommand): Promise<number> {
  const { positionals, values } = readArguments(args, {
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  });
  if (values.help) return (out.write(typed(doctorHelp)), exitCodes.answered);
  if (positionals.length > 0) throw new UsageMistake('`doctor` takes no further words.');
  const all: (Finding & { readonly check: string })[] = [];
  const note = (check: string, findings: readonly Finding[]): void => {
    for (const finding of findings) {
      all.push({ check, ...finding });
      if (!values.json)
        out.write(
          `${finding.status.padEnd(8)} ${check.padEnd(13)} ${typed(finding.says).replaceAll('\n', '\n                        ')}\n`,
        );
    }
  };
  note('node', [nodeFinding()]);
  let loaded: Loaded | null = null;
  try {
    loaded = load();
    note('configuration', [ok(loaded.file ? `${loaded.file} is read.` : 'No file: all defaults apply.')]);
  } catch (error) {
    note('configuration', [problem(messageOf(error))]);
  }
  const checks = loaded
    ? [
        ...localChecks(loaded),
        ...dependencyChecks({ loaded, logger: quiet, ...(localServers ? { localServers } : {}) }),
        ...laterChecks(loaded),
      ]
    : [];
  // All at once: each server that does not answer is waited for.
  const found = checks.map(findingsOf);
  for (const [n, { name }] of checks.entries()) note(name, await found[n]!);
  const count = (status: Finding['status']): number => all.filter((finding) => finding.status === status).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (values.json) out.write(`${JSON.stringify({ problems, warnings, findings: all }, null, 2)}\n`);
  else out.write(`\n${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}\n`);
  return problems > 0 ? exitCodes.failed : exitCodes.answered;
}

/** Drops the log lines of checks: only their findings are shown. */
const quiet = openLogger({ level: 'silent', sinks: [], fields: {} });

const ok = (says: string): Finding => ({ status: 'ok', says });
const warning = (says: string): Finding => ({ status: 'warning', says });
const problem = (says: string): Finding => ({ status: 'problem', says });

async function findingsOf({ run }: DependencyCheck): Promise<readonly Finding[]> {
  try {
    return await pTimeout(run(), { milliseconds: checkMs, message: `It does not answer within ${checkMs / 1_000} s.` });
  } catch (error) {
    return [problem(messageOf(error))];
  }
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isEnough = major > 20 || (major === 20 && minor >= 19);
  return isEnough
    ? ok(`Node.js ${process.versions.node}.`)
    : problem(`Node.js ${process.versions.node} is too old: install 20.19 or newer.`);
}

const localChecks = (loaded: Loaded): readonly DependencyCheck[] => [
  { name: 'disk', run: async () => [diskFinding(loaded.home)] },
  ...(loaded.configuration.stores.kafka ? [] : [{ name: 'data folder', run: () => folderFindings(loaded.home) }]),
  { name: 'ports', run: () => portFindings(loaded) },
  { name: 'keys', run: async () => keyFindings(loaded) },
  { name: 'mathematics', run: async () => [pythonFinding(loaded)] },
];

const laterChecks = (loaded: Loaded): readonly DependencyCheck[] => [
  { name: 'gateway', run: () => gatewayFindings(loaded) },
  { name: 'dead letters', run: () => letterFindings(loaded) },
];

/** The nearest existing folder. */
const present = (path: string): string => (existsSync(path) ? path : present(dirname(path)));

function diskFinding(home: string): Finding {
  const folder = present(home);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const says = `${(free / 1e9).toFixed(1)} GB are free at ${folder}`;
  if (free < 200e6) return problem(`${says}: free some, because nothing is accepted when the disk is full.`);
  return free < 2e9 ? warning(`${says}: docs/guides/sizing.md says what a run needs.`) : ok(`${says}.`);
}

async function folderFindings(home: string): Promise<readonly Finding[]> {
  const folder = present(home);
  try {
    const probe = mkdtempSync(join(folder, '.conclave-doctor-'));
    rmSync(probe, { recursive: true });
  } catch (error) {
    return [
      problem(
        `${folder} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)}): let this user write there, or set CONCLAVE_HOME.`,
      ),
    ];
  }
  if (folder !== home) return [ok(`${home} is made at the first start.`)];
  const open = (statSync(home).mode & 0o077) !== 0;
  const rights = open ? [warning(`Others can read ${home}, which holds prompts and keys: chmod 700 ${home}`)] : [];
  const file = join(home, 'conclave.db');
  const { hasLogAlone, inspectDatabase } = await embeddedFiles();
  if (hasLogAlone(home))
    return [...rights, problem(`${file} is missing or empty, but its write-ahead log is there: put the file back, or restore a backup.`)];
  if (!existsSync(file)) return [...rights, ok(`${home} holds no data yet.`)];
  const { version, readable, damage, runs } = inspectDatabase(file);
  if (damage) return [...rights, problem(`${file} is damaged: ${damage}. Stop the server and restore a backup.`)];
  if (!readable)
    return [...rights, problem(`${file} has version ${version}, which is newer than this program reads: start the version that wrote it.`)];
  return [...rights, ok(`${home} has version ${version}, is whole, and holds ${runs} ${runs === 1 ? 'run' : 'runs'}.`)];
}

const isFree = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });

async function portFindings(loaded: Loaded): Promise<readonly Finding[]> {
  const { PORT, HOST, ADMIN_PORT, ADMIN_HOST } = loaded.environment;
  const port = PORT ?? usualPort;
  const free = port === 0 || (await isFree(HOST, port));
  const own = free ? null : await findGateway(loaded).catch(() => null);
  const first = free
    ? ok(`${HOST}:${port} is free.`)
    : own
      ? ok(`A gateway of Conclave answers at ${own.url}.`)
      : PORT === undefined
        ? warning(`${HOST}:${port} is taken by another program: \`npm start\` takes the next free port.`)
        : problem(`${HOST}:${port} is taken by another program: end it, or set PORT.`);
  const admin =
    ADMIN_PORT === undefined || ADMIN_PORT === 0 || own || (await isFree(ADMIN_HOST, ADMIN_PORT))
      ? []
      : [problem(`${ADMIN_HOST}:${ADMIN_PORT} (ADMIN_PORT) is taken: stop the process that uses it, or set another port.`)];
  return [first, ...admin];
}

function keyFindings(loaded: Loaded): readonly Finding[] {
  const { environment, configuration, home } = loaded;
  const named = environment.CONCLAVE_ADMIN_KEY_FILE;
  const file = named ?? (configuration.stores.kafka ? null : join(home, 'admin.key'));
  const isThere = file !== null && existsSync(file);
  const configured = Object.entries(configuration.keys).some(([, { role }]) => role === 'admin');
  const readable = !isThere || canRead(file);
  return [
    ...(isThere && readable && (statSync(file).mode & 0o077) !== 0
      ? [warning(`Others can read the admin key ${file}: chmod 600 ${file}`)]
      : []),
    !readable
      ? problem(`The admin key ${file} cannot be read by this user: let it read the file.`)
      : isThere
        ? ok(`The admin key is in ${file}.`)
        : configured
          ? ok('`keys` names one of the role admin.')
          : file === null
            ? problem('No key of the role admin: set CONCLAVE_ADMIN_KEY_FILE for the gateway, or give one `role: admin` under `keys`.')
            : ok(`The admin key is made at the first start, in ${file}.`),
    ...(configuration.stores.kafka && environment.CONCLAVE_SEAL_KEY_FILE === undefined && environment.CONCLAVE_SEAL_KEY === undefined
      ? [warning('The log is not sealed: a deleted run stays readable there until its retention ends (docs/guides/deletion.md).')]
      : []),
  ];
}

function canRead(file: string): boolean {
  try {
    closeSync(openSync(file, 'r'));
    return true;
  } catch {
    return false;
  }
}

function pythonFinding({ configuration }: Loaded): Finding {
  const python = configuration.math.python ?? 'python3';
  const { status, stdout } = spawnSync(python, ['-c', 'import sympy; print(sympy.__version__)'], { encoding: 'utf8', timeout: checkMs });
  if (status === 0) return ok(`SymPy ${stdout.trim()} with ${python}.`);
  const says = `${python} has no SymPy: \`pip install sympy\` gives exact mathematics; without it the Compute Engine calculates.`;
  return configuration.math.python === undefined ? warning(says) : problem(`${says} \`math.python\` names it.`);
}

async function gatewayFindings(loaded: Loaded): Promise<readonly Finding[]> {
  const client = await findGateway(loaded);
  if (!client) return [ok('None runs here.')];
  const { status, red = [] } = (await client.readiness()) as { status: string; red?: readonly string[] };
  if (status === 'ready') return [ok(`${client.url} is ready.`)];
  return red.length > 0
    ? red.map((sentence) => problem(`${client.url}: ${sentence}`))
    : [problem(`${client.url} is not ready, and shows the reason only to operators.`)];
}

async function letterFindings(loaded: Loaded): Promise<readonly Finding[]> {
  if (!loaded.configuration.stores.kafka && !existsSync(join(loaded.home, 'conclave.db'))) return [ok('Nothing is recorded yet.')];
  const access = await openDeadAccess(loaded, { write: () => undefined });
  try {
    const { total } = await access.list({ all: false }, { limit: 1 });
    return [
      total === 0
        ? ok('None is open.')
        : warning(
            `${total} ${total === 1 ? 'is' : 'are'} open: \`conclave dead list\` shows them, \`redrive\` or \`discard\` settles them.`,
          ),
    ];
  } finally {
    await access.close();
  }
}
