import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { findOnPath, signalProcess, startProcess, waitForExit, type ProcessIdentity } from '../../../deploy/stack/processes.mjs';
import { freePorts } from '../../../deploy/stack/index.mjs';
import { redisArguments } from '../../../deploy/stack/versions.mjs';
import { until } from './until.js';

export interface WatchedServer {
  /** With its password. */
  readonly url: string;
  /** Sends it a signal, SIGKILL by default; waits for the end if the signal ends it. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on its files, in its last role. */
  start(): Promise<void>;
}

/** A primary, its replicas and the sentinels that watch them, on the loopback. Servers and sentinels require different passwords. */
export interface WatchedRedis {
  /** Name of the primary. */
  readonly master: string;
  readonly password: string;
  /** The first one begins as the primary. */
  readonly servers: readonly WatchedServer[];
  /** host:port */
  readonly sentinels: readonly string[];
  readonly sentinelPassword: string;
  /** Address of the present primary, as the first sentinel knows it, with the password. */
  primary(): Promise<string>;
  dispose(): Promise<void>;
}

const patience = { timeoutMs: 60_000, everyMs: 50 };

/** Resolves once the replicas follow and every sentinel knows all others. */
export async function startWatchedRedis({ replicas = 1, sentinels = 3 } = {}): Promise<WatchedRedis> {
  const program = findOnPath('redis-server');
  if (!program) throw new Error('These tests need a redis-server (apt-get install redis-server).');
  const folder = mkdtempSync(path.join(tmpdir(), 'conclave-watched-redis-'));
  const [master, password, sentinelPassword] = ['conclave', randomBytes(12).toString('hex'), randomBytes(12).toString('hex')];
  const ports = await freePorts(1 + replicas + sentinels);
  const [serverPorts, sentinelPorts] = [ports.slice(0, 1 + replicas), ports.slice(1 + replicas)];
  const running = new Map<number, ProcessIdentity>();

  // Both kinds rewrite their file when they learn who the primary is, so a later start continues from there.
  const prepare = (port: number, lines: readonly string[]): void => {
    const home = path.join(folder, String(port));
    mkdirSync(home);
    const own = [`port ${port}`, 'bind 127.0.0.1', 'protected-mode no', `dir ${home}`, 'daemonize no'];
    writeFileSync(path.join(home, 'server.conf'), [...own, ...lines, ''].join('\n'), { mode: 0o600 });
  };
  const start = async (port: number): Promise<void> => {
    const home = path.join(folder, String(port));
    const args = [path.join(home, 'server.conf'), ...(sentinelPorts.includes(port) ? ['--sentinel'] : redisArguments)];
    running.set(port, await startProcess({ file: program, args }, path.join(home, 'log'), 'ours'));
  };
  const kill = async (port: number, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    const identity = running.get(port);
    if (!identity || !signalProcess(identity, signal) || signal === 'SIGSTOP' || signal === 'SIGCONT') return;
    if (!(await waitForExit(identity, 20_000))) throw new Error(`The server at port ${port} does not end.`);
  };
  const dispose = async (): Promise<void> => {
    await Promise.all(ports.map((port) => kill(port)));
    rmSync(folder, { recursive: true, force: true });
  };
  const urlOf = (port: number): string => `redis://:${password}@127.0.0.1:${port}`;
  const asked = async <T>(port: number, key: string, ask: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = new Redis({ port, host: '127.0.0.1', password: key, retryStrategy: null });
    redis.on('error', () => undefined);
    try {
      return await ask(redis);
    } finally {
      redis.disconnect();
    }
  };
  try {
    for (const [n, port] of serverPorts.entries()) {
      const follows = n === 0 ? [] : [`replicaof 127.0.0.1 ${serverPorts[0]}`];
      // Without this setting a first replica waits five seconds for others.
      prepare(port, [`requirepass ${password}`, `masterauth ${password}`, 'repl-diskless-sync-delay 0', ...follows]);
      await start(port);
    }
    for (const port of serverPorts.slice(1))
      await until(
        'the replica to follow',
        () => asked(port, password, async (redis) => /master_link_status:up/.test(await redis.info('replication'))),
        patience,
      );
    for (const port of sentinelPorts) {
      prepare(port, [
        `requirepass ${sentinelPassword}`,
        `sentinel sentinel-pass ${sentinelPassword}`,
        `sentinel monitor ${master} 127.0.0.1 ${serverPorts[0]} ${Math.floor(sentinels / 2) + 1}`,
        `sentinel auth-pass ${master} ${password}`,
        `sentinel down-after-milliseconds ${master} 1000`,
        `sentinel failover-timeout ${master} 6000`,
      ]);
      await start(port);
    }
    for (const port of sentinelPorts)
      await until(
        'the sentinels to know each other and the replicas',
        () =>
          asked(port, sentinelPassword, async (redis) => {
            const fields = (await redis.call('SENTINEL', 'MASTER', master)) as string[] | Record<string, string>;
            const flat = Array.isArray(fields) ? fields : Object.entries(fields).flat();
            const number = (name: string): number => Number(flat[flat.indexOf(name) + 1]);
            return number('num-other-sentinels') === sentinels - 1 && number('num-slaves') === replicas;
          }),
        patience,
      );
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    master,
    password,
    servers: serverPorts.map((port) => ({ url: urlOf(port), kill: (signal) => kill(port, signal), start: () => start(port) })),
    sentinels: sentinelPorts.map((port) => `127.0.0.1:${port}`),
    sentinelPassword,
    primary: () =>
      asked(sentinelPorts[0]!, sentinelPassword, async (redis) => {
        const [, port] = (await redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master)) as [string, string];
        return urlOf(Number(port));
      }),
    dispose,
  };
}
