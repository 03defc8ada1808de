import { Failure } from '@conclave/contracts';
import type { Cluster, Redis } from 'ioredis';

/** Milliseconds that replicas may take; commands of the same connection wait meanwhile. */
const patienceMs = 1_000;
/** The error of a cluster node that gave its keys away names the node that has them now. */
const attempts = 3;

interface UnderWay {
  readonly now: Promise<void>;
  next: Promise<void> | null;
}

/**
 * Waits until replicas have what this connection wrote (WAIT), so that a failover to one of them loses nothing that was acknowledged. Writes that
 * arrive during a wait share the next one.
 */
export class Replicas {
  private readonly underWay = new Map<string, UnderWay>();

  /** `wanted`: number of replicas; with 0 there is no wait. */
  constructor(
    private readonly redis: Redis | Cluster,
    private readonly wanted: number,
  ) {}

  /** For the writes so far at the node of this key. Throws STORE_UNAVAILABLE when too few replicas have them in time. */
  async have(key: string): Promise<void> {
    if (this.wanted === 0) return;
    const node = 'nodes' in this.redis ? key : '';
    const before = this.underWay.get(node);
    // The wait in progress may have been sent before the last write.
    return before ? (before.next ??= before.now.catch(() => undefined).then(() => this.begin(node, key))) : this.begin(node, key);
  }

  private begin(node: string, key: string): Promise<void> {
    const one: UnderWay = { now: this.wait(key), next: null };
    this.underWay.set(node, one);
    const ended = (): void => {
      if (this.underWay.get(node) === one && !one.next) this.underWay.delete(node);
    };
    one.now.then(ended, ended);
    return one.now;
  }

  private async wait(key: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      // WAIT has no key: the command before it routes the pair to its node, on the connection of the writes.
      const replies = (await this.redis.pipeline().exists(key).wait(this.wanted, patienceMs).exec()) ?? [];
      const moved = replies.find(([error]) => error !== null)?.[0];
      if (moved && attempt < attempts && /^(MOVED|ASK) \d/.test(moved.message)) {
        await this.redis.exists(key);
        continue;
      }
      if (moved) throw moved;
      const found = Number(replies[1]?.[1] ?? 0);
      if (found >= this.wanted) return;
      throw new Failure(
        'STORE_UNAVAILABLE',
        `Redis has the change, but of the ${this.wanted} replicas that are to have it (\`stores.redis.replicas\`) ${found} do.`,
      );
    }
  }
}
