import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { leaveOlderFolder } from '@conclave/adapter-sqlite/suites';
import { until } from '@conclave/test-support';
import { cleared, freePorts, workspaceRoot } from '@conclave/test-support/system';

const homes = mkdtempSync(join(tmpdir(), 'conclave-npm-start-'));
const started: ChildProcess[] = [];

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, [join(workspaceRoot, 'tools/build.mjs')], {
    encoding: 'utf8',
    timeout: 110_000,
  });
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('rror')]);
}, 120_000);
afterEach(() => {
  for (const { pid } of started.splice(0)) signalGroup(pid!, 'SIGKILL');
});
afterAll(() => rmSync(homes, { recursive: true, force: true }));

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // All of them have ended, as wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Starts `npm start` in its own process group and waits for the gateway; its data folder contains the program's address and id. */
async function npmStart(name: string) {
  const home = mkdtempSync(join(homes, `${name}-`));
  const [port] = await freePorts(1);
  const env = { ...process.env, ...cleared, CONCLAVE_HOME: home, PORT: String(port), CONCLAVE_URL: undefined };
  const child = spawn('npm', ['start'], { cwd: workspaceRoot, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output.text += text));
  await until('the gateway to say that it is ready', () => output.text.includes('Stop with Ctrl+C.'), { timeoutMs: 60_000 });
  const { url, pid } = JSON.parse(readFileSync(join(home, 'gateway.json'), 'utf8')) as { url: string; pid: number };
  return { child, output, url, pid, home };
}

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/health/live`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
const isAlive = (pid: number): boolean =>
  spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 }).stdout.trim() !== '';
const lastLog = (home: string): string => readFileSync(join(home, 'conclave.log'), 'utf8');

describe('a fresh copy', () => {
  it('answers a question with the packages that a start installs, without development packages', () => {
    const copy = join(homes, 'copy');
    const { stdout: tracked } = spawnSync('git', ['ls-files', '-z'], { cwd: workspaceRoot, encoding: 'utf8', timeout: 30_000 });
    for (const file of tracked.split('\0').filter(Boolean)) cpSync(join(workspaceRoot, file), join(copy, file), { force: true });
    const env = { ...process.env, ...cleared, CI: undefined, CONCLAVE_HOME: join(homes, 'copy-home'), CONCLAVE_URL: undefined };
    const question = 'In which town was the founder of the Northlight Clock Company born?';
    const asked = spawnSync('npm', ['run', 'ask', '--', question], { cwd: copy, env, encoding: 'utf8', timeout: 280_000 });
    expect([asked.status, asked.stderr]).toEqual([0, expect.stringContaining('npm ci --omit=dev')]);
    expect(asked.stdout).toContain('Saint Orrin');
  }, 300_000);
});

describe('npm start', () => {
  it('stops its server gracefully when only npm receives SIGTERM', async () => {
    const { child, url, pid, home } = await npmStart('npm');
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    await until('the program to end', () => !isAlive(pid), { timeoutMs: 10_000 });
    expect(await answers(url)).toBe(false);
    expect(lastLog(home)).toContain('"message":"Shutting down."');
    expect(lastLog(home)).not.toContain('took longer');
  }, 90_000);

  it('stops gracefully on Ctrl+C, which reaches npm, shell and program alike', async () => {
    const { child, pid, home } = await npmStart('group');
    const ended = once(child, 'exit');
    signalGroup(child.pid!, 'SIGINT');
    await ended;
    await until('the program to end', () => !isAlive(pid), { timeoutMs: 10_000 });
    expect(lastLog(home).match(/Shutting down\./g)).toHaveLength(1);
    expect(() => readFileSync(join(home, 'gateway.json'))).toThrow('ENOENT');
  }, 90_000);

  it('refuses a data folder of an older version, with a message that says what to do and exit code 1', async () => {
    const home = mkdtempSync(join(homes, 'older-'));
    await leaveOlderFolder(home, 7);
    const before = readFileSync(join(home, 'conclave.db'));
    const [port] = await freePorts(1);
    const env = { ...process.env, ...cleared, CONCLAVE_HOME: home, PORT: String(port), CONCLAVE_URL: undefined };
    const { status, stderr } = spawnSync('npm', ['start'], { cwd: workspaceRoot, env, encoding: 'utf8', timeout: 60_000 });
    expect(status).toBe(1);
    expect(stderr).toContain(
      'The data folder holds runs of an older version of Conclave, which this version does not read. Set CONCLAVE_HOME to another folder, or move this one away; the older version still reads it.',
    );
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(readFileSync(join(home, 'conclave.db')).equals(before)).toBe(true);
  }, 90_000);

  it('continues when its output is no longer read, and stops without a stack trace', async () => {
    const { child, output, url, pid } = await npmStart('closed');
    child.stdout!.destroy();
    child.stdout!.on('error', () => {});
    // The program's next line reports its end.
    signalGroup(child.pid!, 'SIGTERM');
    await until('the program to end', () => !isAlive(pid), { timeoutMs: 10_000 });
    expect(await answers(url)).toBe(false);
    expect(output.text).not.toMatch(/EPIPE|Unhandled|^\s+at /m);
  }, 90_000);
});
