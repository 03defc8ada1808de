import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Start time of the process with this id, as an opaque string; null when it does not exist or is a zombie. A process id
 * alone is not an identity, because the system reuses it.
 */
export function startOf(pid) {
  if (process.platform === 'linux') {
    let stat;
    try {
      stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    } catch (error) {
      if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
      throw error;
    }
    // The name in brackets may contain spaces and brackets. After it: 1st the state, 18th the number of threads, 20th the start (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A killed Java process appears as a zombie while its other threads still hold ports; it is gone only when they are.
    const ended = fields[0] === 'X' || (fields[0] === 'Z' && Number(fields[17]) <= 1);
    return ended ? null : fields[19];
  }
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
  } catch (error) {
    if (error.status === 1) return null; // ps found no such process
    throw error;
  }
}

/** Identity of a running process: `{ pid, startedAt }`. Throws when it does not run. */
export function identify(pid) {
  const startedAt = startOf(pid);
  if (startedAt === null) throw new Error(`There is no process ${pid}.`);
  return { pid, startedAt };
}

/** True while exactly this process runs; false for another one with the same id. */
export const isAlive = ({ pid, startedAt }) => startOf(pid) === startedAt;

/** Sends the signal to exactly this process. Returns false when it is gone. */
export function signalProcess(identity, signal) {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
    throw error;
  }
}

/** Resolves to true once the process is gone, to false after `withinMs` milliseconds. */
export async function waitForExit(identity, withinMs) {
  const end = Date.now() + withinMs;
  while (isAlive(identity)) {
    if (Date.now() > end) return false;
    await pause(25);
  }
  return true;
}

/** SIGTERM, then SIGKILL after `withinMs`. Resolves to 'gone' | 'stopped' | 'killed'. */
export async function stopProcess(identity, withinMs) {
  if (!signalProcess(identity, 'SIGTERM')) return 'gone';
  if (await waitForExit(identity, withinMs)) return 'stopped';
  signalProcess(identity, 'SIGKILL');
  if (!(await waitForExit(identity, 10_000))) throw new Error(`Process ${identity.pid} survived SIGKILL for 10 s.`);
  return 'killed';
}

/**
 * Starts a server with its output appended to `logFile`.
 * @param lifetime 'detached': outlives us, stopped later by its identity; 'ours': always ends with us.
 * @returns `{ pid, startedAt }` plus `exited`, a promise of the way it ended (never rejects).
 */
export async function startProcess({ file, args, env = {}, cwd }, logFile, lifetime) {
  mkdirSync(path.dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'a');
  const [program, programArguments] = lifetime === 'ours' ? boundToUs(file, args) : [file, args];
  const child = spawn(program, programArguments, {
    cwd,
    env: { ...process.env, ...env },
    detached: lifetime === 'detached',
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const exited = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  await new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new Error(`${file} could not be started: ${error.message}`, { cause: error })));
  });
  child.unref();
  if (lifetime === 'ours') {
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    void exited.then(() => process.off('exit', kill));
  }
  const startedAt = startOf(child.pid);
  if (startedAt === null) throw new Error(`${file} ended at once (${await exited}).\n${lastLines(logFile)}`);
  return { pid: child.pid, startedAt, exited };
}

/** On Linux the kernel kills the child when we die, even by SIGKILL. The program replaces setpriv and keeps its process id. */
function boundToUs(file, args) {
  if (process.platform !== 'linux' || !findOnPath('setpriv')) return [file, args];
  return ['setpriv', ['--pdeathsig', 'KILL', '--', file, ...args]];
}

/** Absolute path of a program on PATH, or null. */
export function findOnPath(program) {
  try {
    return execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).trim() || null;
  } catch (error) {
    if (typeof error.status === 'number') return null; // the shell answered: not found
    throw error;
  }
}

/** Runs a program to its end. Resolves to stdout; rejects with its last lines of output. */
export async function run(file, args, { env = {}, cwd, input, withinMs = 600_000 } = {}) {
  const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'], timeout: withinMs });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  // A program may close the pipe without reading its input; its exit code below tells the result.
  child.stdin.on('error', () => undefined).end(input);
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (...ending) => resolve(ending));
  });
  if (code === 0) return stdout;
  const said = tail(`${stdout}\n${stderr}`, 12);
  throw new Error(`${path.basename(file)} ${args.slice(0, 3).join(' ')} failed (${signal ?? `exit code ${code}`}).\n${said}`);
}

const tail = (text, lines) => text.trimEnd().split('\n').slice(-lines).join('\n');

/** The last lines of a log for an error message; a note if there is no log. */
export function lastLines(logFile, lines = 12) {
  try {
    return tail(readFileSync(logFile, 'utf8'), lines) || `(${logFile} is empty)`;
  } catch (error) {
    if (error.code === 'ENOENT') return `(there is no ${logFile})`;
    throw error;
  }
}
