/** Records of one key, in order of arrival. Only the head may run. */
export interface Lane<T> {
  readonly head: T;
}

interface Queue<T> {
  readonly name: string;
  items: T[];
}

/**
 * Queues by key. A lane whose head may run is in the ready list; `take` returns lanes in the order they became ready, so no key starves
 * another.
 */
export class Lanes<T extends object> {
  private readonly queues = new Map<string, Queue<T>>();
  private readonly queueOf = new Map<T, Queue<T>>();
  private readonly readyQueues = new Set<Queue<T>>();

  get size(): number {
    return this.queueOf.size;
  }

  add(name: string, item: T): void {
    let queue = this.queues.get(name);
    if (!queue) {
      queue = { name, items: [] };
      this.queues.set(name, queue);
    }
    queue.items.push(item);
    this.queueOf.set(item, queue);
    if (queue.items.length === 1) this.readyQueues.add(queue);
  }

  /** The next head that may run; it remains the head until it is removed or made ready again. */
  take(): Lane<T> | undefined {
    for (const queue of this.readyQueues) {
      this.readyQueues.delete(queue);
      return { head: queue.items[0]! };
    }
    return undefined;
  }

  /** Lets a head that was already taken run again. */
  ready(item: T): void {
    const queue = this.queueOf.get(item);
    if (queue && queue.items[0] === item) this.readyQueues.add(queue);
  }

  /** Removes an item; if it was the head, the next one of its lane becomes ready. */
  remove(item: T): void {
    const queue = this.queueOf.get(item);
    if (!queue) return;
    this.queueOf.delete(item);
    const wasHead = queue.items[0] === item;
    queue.items = wasHead ? queue.items.slice(1) : queue.items.filter((other) => other !== item);
    if (queue.items.length === 0) {
      this.readyQueues.delete(queue);
      this.queues.delete(queue.name);
    } else if (wasHead) {
      this.readyQueues.add(queue);
    }
  }

  /** A copy of all items, safe to iterate while items change. */
  items(): readonly T[] {
    return [...this.queueOf.keys()];
  }
}
