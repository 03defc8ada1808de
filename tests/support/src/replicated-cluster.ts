import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { freePorts } from '../../../deploy/stack/index.mjs';
import { findOnPath } from '../../../deploy/stack/processes.mjs';
import { redisArguments } from '../../../deploy/stack/versions.mjs';
import { until } from './until.js';

interface Node {
  readonly url: string;
  kill(): Promise<void>;
}

/** Three primaries that share the slots, and one replica of each, in the same order. */
export interface ReplicatedCluster {
  /** Address of a node; clients learn the others from it. */
  readonly url: string;
  readonly primaries: readonly Node[];
  readonly replicas: readonly Node[];
  dispose(): Promise<void>;
}

const slots = 16_384;
const size = 3;

export async function startReplicatedCluster(): Promise<ReplicatedCluster> {
  const folder = mkdtempSync(path.join(tmpdir(), 'conclave-redis-cluster-'));
  const ports = await freePorts(size * 4);
  const children: ChildProcess[] = [];
  const dispose = async (): Promise<void> => {
    await Promise.all(children.map(killed));
    rmSync(folder, { recursive: true, force: true });
  };
  const nodes = Array.from({ length: size * 2 }, (_, n) => ({
    port: ports[n]!,
    bus: ports[size * 2 + n]!,
    url: `redis://127.0.0.1:${ports[n]}`,
  }));
  for (const { port, bus } of nodes) {
    const home = path.join(folder, String(port));
    mkdirSync(home);
    const listen = ['--port', String(port), '--bind', '127.0.0.1', '--dir', home, '--daemonize', 'no'];
    const asNode = ['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '2000'];
    children.push(spawn(findOnPath('redis-server')!, [...listen, ...redisArguments, ...asNode], { stdio: 'ignore' }));
  }
  const clients = nodes.map(({ url }) => new Redis(url));
  try {
    await Promise.all(clients.map((client) => until('Redis to answer', () => client.ping(), { timeoutMs: 30_000 })));
    const share = Math.ceil(slots / size);
    for (const [n, client] of clients.slice(0, size).entries())
      await client.call('CLUSTER', 'ADDSLOTSRANGE', n * share, Math.min(slots, (n + 1) * share) - 1);
    for (const client of clients.slice(1)) await client.call('CLUSTER', 'MEET', '127.0.0.1', nodes[0]!.port, nodes[0]!.bus);
    for (const [n, client] of clients.slice(size).entries()) {
      const id = String(await clients[n]!.call('CLUSTER', 'MYID'));
      await until('the replica to know its primary', async () => String(await client.call('CLUSTER', 'NODES')).includes(id), {
        timeoutMs: 30_000,
      });
      await client.call('CLUSTER', 'REPLICATE', id);
    }
    await Promise.all(
      clients.map((client) =>
        until('the cluster to be formed', async () => /cluster_state:ok/.test(String(await client.cluster('INFO'))), { timeoutMs: 30_000 }),
      ),
    );
    await Promise.all(
      clients
        .slice(size)
        .map((client) =>
          until('the replica to follow', async () => /master_link_status:up/.test(await client.info('replication')), { timeoutMs: 30_000 }),
        ),
    );
  } catch (error) {
    await dispose();
    throw error;
  } finally {
    for (const client of clients) client.disconnect();
  }
  const all = nodes.map(({ url }, n): Node => ({ url, kill: () => killed(children[n]!) }));
  return { url: nodes[0]!.url, primaries: all.slice(0, size), replicas: all.slice(size), dispose };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
