import { describe, expect, it } from '@jest/globals';
import { isTerminal, type EngineEntry, type StreamEntry } from '@conclave/contracts';
import { silentLogger } from '@conclave/platform';
import { MemoryStores, type RunStream } from '@conclave/ports';
import { describeRun, strategyOf } from '@conclave/strategies';
import fc from 'fast-check';
import { completed } from '../__fixtures__/world.js';
import { defaultLimits, type GatewayOptions } from '../options.js';
import { StreamHub } from './stream-hub.js';

const runId = 'run_resume00';
const planning = (epoch: number): EngineEntry => ({ kind: 'planning', epoch, iteration: epoch, max: 9 });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Steps, in this order: entries arrive, the reader resumes after a given id, it disconnects, a hint is lost, reads become slow. */
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('append' as const), count: fc.integer({ min: 1, max: 7 }) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('leave' as const), back: fc.nat(6) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('turn' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('fail' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('slow' as const), turns: fc.nat(4) }) },
);

/** A reader of a run over two gateways: what each connection received, by the id it resumed from. */
class Reader {
  readonly connections: { readonly after: number; readonly ids: number[] }[] = [];
  ended = false;
  private stop: (() => void) | null = null;

  come(hub: StreamHub, after: number): void {
    this.leave();
    const connection = { after, ids: [] as number[] };
    this.connections.push(connection);
    const take = (entries: readonly StreamEntry[]): void => {
      connection.ids.push(...entries.map(({ id }) => id));
      this.ended ||= entries.some(isTerminal);
    };
    const viewer = {
      cursor: after,
      ready: () => true,
      take,
      lost: () => undefined,
      failed: (error: unknown) => {
        throw error;
      },
    };
    const following = hub.follow(runId, viewer, true);
    this.stop = () => following.stop();
  }
  leave(): void {
    this.stop?.();
    this.stop = null;
  }
  get last(): number {
    return Math.max(0, ...this.connections.flatMap(({ ids }) => ids));
  }
}

describe('a resumed stream', () => {
  it('gives every connection all ids after the one it names without a gap, whatever happens between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 25 }), async (happenings) => {
        const stores = new MemoryStores();
        const { state, stream } = stores.connect('gateway');
        let failures = 0;
        let slowness = 0;
        const shaky: RunStream = {
          append: stream.append,
          read: async (...given) => {
            for (let n = 0; n < slowness; n += 1) await turn();
            if (failures > 0) {
              failures -= 1;
              throw new Error('the store is away');
            }
            return stream.read(...given);
          },
        };
        const options = { logger: silentLogger, describeRun: (run: unknown) => describeRun(run, strategyOf) } as unknown as GatewayOptions;
        const hubs = [1, 2].map(() => new StreamHub(options, { ...defaultLimits, pollMs: 2 }, state, shaky));
        for (const hub of hubs) await hub.onModuleInit();
        const reader = new Reader();
        reader.come(hubs[0]!, 0);
        let total = 0;
        const append = (entries: readonly EngineEntry[]): void => {
          total += entries.length;
          stores.stream.write(runId, entries);
        };
        for (const [n, what] of happenings.entries()) {
          if (what.does === 'append') append(Array.from({ length: what.count }, (_, k) => planning(total + k)));
          else if (what.does === 'leave') reader.come(hubs[n % 2]!, Math.max(0, reader.last - what.back));
          else if (what.does === 'fail') failures += 1;
          else if (what.does === 'slow') slowness = what.turns;
          else await turn();
        }
        append([completed() as EngineEntry]);
        const until = performance.now() + 2_000;
        while (!reader.ended && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 1));
        reader.leave();
        for (const hub of hubs) await hub.close();
        for (const { after, ids } of reader.connections) expect(ids).toEqual(ids.map((_, index) => after + 1 + index));
        expect(reader.ended).toBe(true);
        expect(reader.last).toBe(total);
        const union = new Set(reader.connections.flatMap(({ ids }) => ids));
        expect(union.size).toBe(total);
      }),
      { numRuns: 80 },
    );
  });
});
