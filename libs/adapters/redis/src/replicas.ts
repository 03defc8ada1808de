import { Failure } from '@conclave/contracts';
import type { Cluster, Redis } from 'ioredis';

/** Milliseconds that replicas get; commands of the same connection wait behind. */
const patienceMs = 1_000;
/** A node of a cluster that gave its keys away names its successor. */
const attempts = 3;

interface UnderWay {
  readonly now: Promise<void>;
  next: Promise<void> | null;
}

/**
 * Waits until replicas have what this connection wrote (WAIT), so that a take-over by one of them loses nothing that was acknowledged.
 * Writes that come while a wait is under way share the next one.
 */
export class Replicas {
  private readonly underWay = new Map<string, UnderWay>();

  /** `wanted`: how many of them; with 0 nothing is waited for. */
  constructor(
    private readonly redis: Redis | Cluster,
    private readonly wanted: number,
  ) {}

  /** For the writes so far at the node of this key. Throws STORE_UNAVAILABLE where too few replicas have them in time. */
  async have(key: string): Promise<void> {
    if (this.wanted === 0) return;
    const node = 'nodes' in this.redis ? key : '';
    const before = this.underWay.get(node);
    // It may have been sent before the last write.
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
      // WAIT has no key: the one in front of it leads the pair to its node, by the connection of the writes.
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
