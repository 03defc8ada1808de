import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A private redis-server on a free loopback port, with its own folder. */
export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Kills it (SIGKILL); the files stay. */
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Starts it again on the same port and files. */
  start(): Promise<void>;
  /** Stops it and removes its folder. */
  dispose(): Promise<void>;
}

/** Options a server needs to keep acknowledged writes. */
export const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory-policy', 'noeviction'];

const programs = ['/usr/bin/redis-server', '/usr/local/bin/redis-server', '/opt/homebrew/bin/redis-server', '/usr/bin/valkey-server'];

export async function startPrivateRedis(
  parameters: readonly string[] = durable,
  ports?: (port: number) => readonly string[],
): Promise<PrivateRedis> {
  const onPath = (process.env.PATH ?? '').split(path.delimiter).map((folder) => path.join(folder, 'redis-server'));
  const program = [...onPath, ...programs].find((candidate) => existsSync(candidate));
  if (!program) throw new Error('These tests need a redis-server: set REDIS_URL, or install one (apt-get install redis-server).');
  const folder = mkdtempSync(path.join(tmpdir(), 'conclave-redis-'));
  const port = await freePort();
  let child: ChildProcess | null = null;

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child;
    child = null;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = new Promise((resolve) => ending.once('exit', resolve));
    ending.kill(signal);
    await exited;
  };
  const start = async (): Promise<void> => {
    const listen = ports ? ports(port) : ['--port', String(port)];
    const all = [...listen, '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no', ...parameters];
    const started = spawn(program, all, { stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    started.stdout.on('data', (text: Buffer) => (log = (log + text.toString()).slice(-4_000)));
    started.stderr.on('data', (text: Buffer) => (log = (log + text.toString()).slice(-4_000)));
    child = started;
    const patience = performance.now() + 10_000;
    while (!(await answers(port))) {
      if (started.exitCode !== null || performance.now() > patience) throw new Error(`redis-server did not start:\n${log}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    kill: () => stop('SIGKILL'),
    signal: (signal) => void child?.kill(signal),
    start,
    async dispose() {
      await stop('SIGKILL'); // on SIGTERM, a server that cannot write its snapshot keeps running
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server of the tests: REDIS_URL, else the local stack's, else a private one that ends with the tests. */
export async function serverForTests(): Promise<{ readonly url: string; dispose(): Promise<void> }> {
  const given = process.env.REDIS_URL ?? urlOfStack();
  if (given) return { url: given, dispose: async () => undefined };
  return startPrivateRedis();
}

function urlOfStack(): string | undefined {
  const file = path.resolve(import.meta.dirname, '../../../../../deploy/.stack/env.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { REDIS_URL?: string }).REDIS_URL;
}

export const newPrefix = (): string => `conclave-test-${randomBytes(6).toString('hex')}:`;

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}

/** Whether something accepts connections there; clients wait while a server still loads its files (LOADING). */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      socket.destroy();
      resolve(false);
    });
  });
}
