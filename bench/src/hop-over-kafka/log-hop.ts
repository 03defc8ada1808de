import { CommandIssued, makeEvent } from '@conclave/contracts';
import type { Consumption, EventLog } from '@conclave/ports';
import { nextRunId } from '../committee/run-starter.js';

const hopWithinMs = 30_000;

/** Measures one event from `publish` to its handler through our event log: encoding, delivery pool, durable attempt count. */
export class LogHop {
  private readonly arrived = new Map<string, (at: number) => void>();

  private constructor(
    private readonly log: EventLog,
    /** Padding that makes the event as large as the record of the broker's ping. */
    private readonly filling: string,
    private consumption: Consumption | null,
  ) {}

  static async open(log: EventLog, bytes: number): Promise<LogHop> {
    const hop = new LogHop(log, 'x'.repeat(bytes), null);
    hop.consumption = await log.subscribe({
      group: 'bench-hop',
      topics: ['run.commands'],
      concurrency: 16,
      handle: async ({ event }) => {
        hop.arrived.get(event.id)?.(performance.now());
        return [];
      },
      onDead: async () => [],
    });
    return hop;
  }

  /** Milliseconds from `publish` to the handler, for `count` events one after the other. */
  async measure(count: number): Promise<readonly number[]> {
    const taken: number[] = [];
    for (let n = 0; n < count; n += 1) taken.push(await this.once());
    return taken;
  }

  async close(): Promise<void> {
    await this.consumption?.close();
  }

  private async once(): Promise<number> {
    const runId = nextRunId();
    const id = `${runId}/command/1`;
    const time = Date.now();
    const event = makeEvent(
      CommandIssued,
      { id, runId, source: 'gateway', time },
      { seq: 1, actor: 'bench', issuedAt: time, command: { name: 'cancel', reason: this.filling } },
    );
    let timer: NodeJS.Timeout | undefined;
    const arrival = new Promise<number>((resolve, reject) => {
      this.arrived.set(id, resolve);
      timer = setTimeout(() => reject(new Error(`An event did not reach its handler within ${hopWithinMs / 1_000} s.`)), hopWithinMs);
    });
    const from = performance.now();
    const publishing = this.log.publish([event]);
    try {
      const [at] = await Promise.all([arrival, publishing]);
      return at - from;
    } finally {
      clearTimeout(timer);
      this.arrived.delete(id);
    }
  }
}
