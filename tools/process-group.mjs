// Runs a command in a process group of its own, so that whatever it started can be ended with it.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const running = new Set();

function endGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // The group is already gone, which is what was wanted.
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Every process that `pid` started and that is still alive, with what those started in turn, as far as `ps` shows them. */
export function descendants(pid) {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8', timeout: 10_000 });
  const all = (stdout ?? '').split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    return match && !match[3].startsWith('Z') ? [{ pid: Number(match[1]), parent: Number(match[2]), command: match[4] }] : [];
  });
  const below = (parent) => all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid).filter(({ command }) => !command.startsWith('ps -eo pid='));
}

/** Ends processes at once; those that are gone already are no error. */
export function endProcesses(pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}

/** How much a command gives way that computes beside others (niceness). */
const niceness = 10;

/** Why a system may keep a process as it is: the process is over, or the caller may not, or not so soon again. */
const refusals = new Set(['ESRCH', 'EACCES', 'EPERM', 'EAGAIN']);

/** Lets others go first, where the system agrees. Linux may share processors out by session: a session has a niceness of its own then. */
function giveWay({ pid }) {
  const session = `/proc/${pid}/autogroup`;
  try {
    setPriority(pid, Math.max(niceness, getPriority()));
    if (existsSync(session)) writeFileSync(session, String(niceness));
  } catch (error) {
    if (!refusals.has(error.info?.code ?? error.code)) throw error;
  }
}

/**
 * Runs `command` and collects what it prints. After `limit` seconds its whole process group gets SIGTERM and, five seconds
 * later, SIGKILL, with whatever it had started outside of the group. With `yields` it takes the processor time that others leave. Never rejects.
 *
 * @returns {Promise<{ code: number, output: string, seconds: number, timedOut: boolean }>} `code` is 1 when it was ended.
 */
export function runInGroup(command, args, { cwd, env, limit, yields = false }) {
  const started = Date.now();
  return new Promise((resolve) => {
    const chunks = [];
    let timedOut = false;
    let killer;
    let below = [];
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    if (yields && child.pid !== undefined) giveWay(child);
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    const timer = setTimeout(() => {
      timedOut = true;
      // What it started may have left its group, and has no parent to be found by once this one is gone.
      below = descendants(child.pid).map(({ pid }) => pid);
      endGroup(child, 'SIGTERM');
      killer = setTimeout(() => endGroup(child, 'SIGKILL'), 5000);
    }, limit * 1000);
    const finish = (code) => {
      clearTimeout(timer);
      clearTimeout(killer);
      running.delete(child);
      resolve({ code, output: Buffer.concat(chunks).toString(), seconds: (Date.now() - started) / 1000, timedOut });
    };
    child.on('error', (error) => {
      chunks.push(Buffer.from(`${error.message}\n`));
      finish(1);
    });
    // 'exit', not 'close': a grandchild that kept the pipe open must not hold up the run. What is left of the group is ended.
    child.on('exit', (code) => {
      endGroup(child, 'SIGKILL');
      endProcesses(below);
      setImmediate(() => finish(timedOut ? 1 : (code ?? 1)));
    });
  });
}

/** Ends every group that is still running, at once. */
export function endAllGroups() {
  for (const child of running) endGroup(child, 'SIGKILL');
}
