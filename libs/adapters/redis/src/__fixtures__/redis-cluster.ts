import { Redis } from 'ioredis';
import { durable, freePort, startPrivateRedis, type PrivateRedis } from './redis-server.js';

/** Private primaries on the loopback (three by default) that share the slots. */
export interface PrivateCluster {
  /** Address of one node; clients learn the others from it. */
  readonly url: string;
  readonly nodes: readonly PrivateRedis[];
  dispose(): Promise<void>;
}

const slots = 16_384;
const patienceMs = 20_000;

/** Resolves once every node serves every slot. */
export async function startPrivateCluster(size = 3): Promise<PrivateCluster> {
  const nodes: PrivateRedis[] = [];
  const dispose = async (): Promise<void> => void (await Promise.all(nodes.map((node) => node.dispose())));
  try {
    for (let n = 0; n < size; n += 1) {
      const asNode = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort()), '--cluster-node-timeout', '2000'];
      nodes.push(await startPrivateRedis([...durable, ...asNode]));
    }
    await join(nodes);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { url: nodes[0]!.url, nodes, dispose };
}

async function join(nodes: readonly PrivateRedis[]): Promise<void> {
  const clients = nodes.map(({ url }) => new Redis(url));
  try {
    const share = Math.ceil(slots / nodes.length);
    for (const [n, client] of clients.entries())
      await client.call('CLUSTER', 'ADDSLOTSRANGE', n * share, Math.min(slots, (n + 1) * share) - 1);
    const bus = (await clients[0]!.config('GET', 'cluster-port')) as string[];
    for (const client of clients.slice(1)) await client.call('CLUSTER', 'MEET', '127.0.0.1', nodes[0]!.port, bus[1]!);
    const end = performance.now() + patienceMs;
    for (const client of clients) {
      while (!/cluster_state:ok/.test(String(await client.cluster('INFO')))) {
        if (performance.now() > end) throw new Error('The nodes did not become a cluster in time.');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  } finally {
    for (const client of clients) client.disconnect();
  }
}
