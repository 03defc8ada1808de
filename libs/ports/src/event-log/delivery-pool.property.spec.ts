import { describe, expect, it } from '@jest/globals';
import { Failure } from '@conclave/contracts';
import fc from 'fast-check';
import { defer } from './event-log.js';
import { PoolBench } from './testing/pool-bench.js';
import { sampleInput, sampleName, sampleOutput } from './testing/sample-events.js';

const attempts = 3;

/** What a handler does on each call for one record; after the last entry it succeeds. */
const script = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  behaviour: fc.array(fc.constantFrom('fail', 'bug', 'defer', 'outage', 'log-outage', 'ledger-outage'), { maxLength: 5 }),
  takesMs: fc.nat(300),
});
const world = fc.record({
  scripts: fc.array(script, { minLength: 1, maxLength: 20 }),
  concurrency: fc.integer({ min: 1, max: 4 }),
  /** Share of the clock's random range, so that jitter varies between runs. */
  chance: fc.nat(99),
});

describe('the delivery pool, whatever handlers and stores do,', () => {
  it('finishes each record once, keeps keys in order, blames no record for an outage and leaves nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ scripts, concurrency, chance }) => {
        const running = new Set<string>();
        const calls = new Map<string, number>();
        const bench: PoolBench = new PoolBench(
          async ({ event, attempt }) => {
            const name = sampleName(event);
            const { key, behaviour, takesMs } = scripts[Number(name)]!;
            expect([...running].filter((other) => scripts[Number(other)]!.key === key)).toEqual([]);
            running.add(name);
            expect(running.size).toBeLessThanOrEqual(concurrency);
            await new Promise<void>((resolve) => bench.clock.after(takesMs, resolve));
            running.delete(name);
            expect(attempt).toBeLessThanOrEqual(attempts);
            const call = calls.get(name) ?? 0;
            calls.set(name, call + 1);
            switch (behaviour[call]) {
              case 'fail':
                throw new Error('failed');
              case 'bug':
                throw new TypeError('not a function');
              case 'defer':
                return defer(50);
              case 'outage':
                throw new Failure('STORE_UNAVAILABLE');
              case 'log-outage':
                bench.logError = new Failure('LOG_UNAVAILABLE');
                bench.clock.after(700, () => (bench.logError = null));
                return [sampleOutput(name)];
              case 'ledger-outage':
                bench.deliveries.down = true;
                bench.clock.after(700, () => (bench.deliveries.down = false));
                return [sampleOutput(name)];
              default:
                return [sampleOutput(name)];
            }
          },
          {
            concurrency,
            retry: { attempts, backoffMs: 20, maxBackoffMs: 100 },
            onDead: (event) => [sampleOutput(`dead ${sampleName(event!)}`)],
            random: () => chance / 100,
          },
        );
        await bench.offer(...scripts.map(({ key }, index) => sampleInput(String(index), key)));
        await bench.clock.advance(600_000);

        expect([...bench.done].sort()).toEqual(scripts.map((_, index) => String(index)).sort());
        for (const key of ['a', 'b', 'c']) {
          const ofKey = bench.done.map(Number).filter((index) => scripts[index]!.key === key);
          expect(ofKey).toEqual([...ofKey].sort((x, y) => x - y));
        }
        const published = new Set(bench.published.map(sampleName));
        scripts.forEach(({ behaviour }, index) => {
          const upToSuccess = behaviour.slice(0, calls.get(String(index)));
          const failures = upToSuccess.filter((step) => step === 'fail' || step === 'bug').length;
          const letters = bench.dead.filter(({ headers }) => headers['dead-offset'] === String(index));
          expect(letters.length > 0).toBe(failures === attempts);
          for (const { headers } of letters) expect(headers['dead-attempts']).toBe(String(attempts));
          expect(published.has(failures === attempts ? `dead ${index}` : String(index))).toBe(true);
        });
        expect(bench.pool.load()).toEqual({ running: 0, held: 0 });
        expect(bench.pool.paused()).toBeNull();
        expect(bench.pauses.filter((paused) => paused)).toHaveLength(bench.pauses.length / 2);
        expect(bench.deliveries.open).toBe(0);
        expect(bench.clock.pending).toBe(0);
      }),
      { numRuns: 50 },
    );
  }, 30_000);

  it('finishes no record after it was lost, and every record that was not', async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.nat(2000), async ({ scripts, concurrency, chance }, lostAt) => {
        const bench: PoolBench = new PoolBench(
          async ({ event, attempt }) => {
            const { takesMs, behaviour } = scripts[Number(sampleName(event))]!;
            await new Promise<void>((resolve) => bench.clock.after(takesMs, resolve));
            if (behaviour[attempt - 1] === 'fail') throw new Error('failed');
            return [];
          },
          { concurrency, retry: { attempts: 10, backoffMs: 20, maxBackoffMs: 100 }, random: () => chance / 100 },
        );
        const lost = (offset: string) => Number(offset) % 2 === 0;
        await bench.offer(...scripts.map(({ key }, index) => sampleInput(String(index), key)));
        await bench.clock.advance(lostAt);
        const before = new Set(bench.done);
        bench.pool.forget(({ offset }) => lost(offset));
        await bench.clock.advance(600_000);
        scripts.forEach((_, index) => {
          const offset = String(index);
          expect(bench.done.filter((done) => done === offset)).toHaveLength(!lost(offset) || before.has(offset) ? 1 : 0);
        });
        expect(bench.pool.load()).toEqual({ running: 0, held: 0 });
        // The next owner of a lost record sees the counted failures and no opener that might have died with it.
        for (const offset of scripts.map((_, index) => String(index)).filter(lost)) {
          const begun = await bench.deliveries.ledger('next').begin({ group: 'group', record: `knowledge.ingest/0/${offset}` });
          expect(begun).toMatchObject({ deaths: 0, suspects: 0 });
        }
      }),
      { numRuns: 50 },
    );
  }, 30_000);

  it('gives back on draining exactly the records it did not finish', async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.nat(1500), fc.nat(500), async ({ scripts, concurrency, chance }, drainAt, graceMs) => {
        const bench: PoolBench = new PoolBench(
          async ({ event }) => {
            const { takesMs, behaviour } = scripts[Number(sampleName(event))]!;
            await new Promise<void>((resolve) => bench.clock.after(takesMs * 4, resolve));
            if (behaviour[0] === 'fail') throw new Error('failed');
            if (behaviour[0] === 'outage') throw new Failure('STORE_UNAVAILABLE');
            return [];
          },
          { concurrency, retry: { attempts: 1000, backoffMs: 20, maxBackoffMs: 100 }, random: () => chance / 100 },
        );
        await bench.offer(...scripts.map(({ key }, index) => sampleInput(String(index), key)));
        await bench.clock.advance(drainAt);
        const drained = bench.pool.drain(graceMs);
        await bench.clock.advance(60_000);
        const back = (await drained).map(({ offset }) => offset);
        expect([...back, ...bench.done].sort()).toEqual(scripts.map((_, index) => String(index)).sort());
        expect(bench.clock.pending).toBe(0);
      }),
      { numRuns: 50 },
    );
  }, 30_000);
});
