// Runs a command in its own process group, so that everything it started can be ended with it.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

const running = new Set();

/** Does something to a process that the system may refuse, because the process has ended or we lack the permission. */
function attempt(action) {
  try {
    action();
  } catch (error) {
    if (!['ESRCH', 'EACCES', 'EPERM', 'EAGAIN'].includes(error.info?.code ?? error.code)) throw error;
  }
}

const end = (pid) => attempt(() => process.kill(pid, 'SIGKILL'));

/** The living members of a process group, and of the groups that its processes started, as far as `ps` shows them. */
function alive(group) {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,pgid=,stat=,args='], { encoding: 'utf8', timeout: 10_000 });
  const all = [...(stdout ?? '').matchAll(/^ *(\d+) +(\d+) +(\d+) +[^Z\s]\S* +(?!ps -eo)(.*)$/gm)].map(([, ...ids]) => {
    const [pid, parent, of] = ids.map(Number);
    return { pid, parent, of, command: ids[3] };
  });
  const below = (parent) => all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return [...new Set([...all.filter(({ of }) => of === group), ...below(group)])].filter(({ pid }) => pid !== group);
}

/**
 * Lets other processes go first, if the system supports it. Linux may share processors between sessions; each session then has its own
 * niceness.
 */
function giveWay(pid, niceness = 10) {
  attempt(() => setPriority(pid, Math.max(niceness, getPriority())));
  if (existsSync(`/proc/${pid}/autogroup`)) attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(niceness)));
}

/**
 * Runs `command` and collects its output. After `limit` seconds, or as soon as `isStuck` returns true, it is ended with everything it
 * started.
 * With `yields` it takes only the processor time that others leave. Never rejects.
 *
 * @returns {Promise<{ code: number, output: string, seconds: number, timedOut: boolean, left: string[] }>} `code` is 1 if it was ended;
 * `left` lists the processes that were still running then, or that it left behind.
 */
export async function runInGroup(command, args, { cwd, env, limit, isStuck = () => false, yields = false }) {
  const started = Date.now();
  const seconds = () => (Date.now() - started) / 1000;
  let [output, timedOut, left] = ['', false, []];
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  // 'exit', not 'close': a grandchild that keeps the pipe open must not hold up the run.
  const exit = new Promise((resolve) => child.on('exit', resolve).on('error', ({ message }) => resolve((output += `${message}\n`))));
  const closed = new Promise((resolve) => child.on('close', resolve));
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
  if (child.pid === undefined) return { code: 1, output: await exit, seconds: seconds(), timedOut, left };
  running.add(child.pid);
  if (yields) giveWay(child.pid);
  const watch = setInterval(() => {
    if (timedOut || !(seconds() > limit || isStuck())) return;
    timedOut = true;
    // A process that has left the group can no longer be found by its parent once this one has ended.
    left = alive(child.pid);
    end(-child.pid);
  }, 250);
  const code = await exit;
  clearInterval(watch);
  // A process that was told to end a moment ago does not count as left behind.
  for (let n = 0; !timedOut && n < 20 && (n === 0 || left.length > 0); n += 1) {
    if (n > 0) await wait(100);
    left = alive(child.pid);
  }
  end(-child.pid);
  for (const { pid } of left) end(pid);
  running.delete(child.pid);
  await Promise.race([closed, wait(1000, undefined, { ref: false })]);
  return {
    code: timedOut ? 1 : (code ?? 1),
    output,
    seconds: seconds(),
    timedOut,
    left: left.map((one) => `${one.command} (process ${one.pid})`),
  };
}

/** Ends every group that is still running, at once, including processes that have left it. */
export function endAllGroups() {
  for (const group of running) for (const pid of [...alive(group).map((one) => one.pid), -group]) end(pid);
}
