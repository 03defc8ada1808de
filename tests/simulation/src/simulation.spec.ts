import { describe, expect, it } from '@jest/globals';
import { aimAt, Coverage, targetOf } from './faults/crash-points.js';
import { simulate, type SimulationResult } from './simulate.js';

/** Enough seeds to aim at nearly every declared crash point twice, each time at another passage. */
const fewestSeeds = 1_000;
/** More are tried, up to four per point, while they take less than this many seconds of processor time. */
const mostSeeds = 2_000;
const secondsForMore = 240;
/** Further seeds for a crash point that all of them missed: the rarest is passed in one of ten seeds that aim at it. */
const triesAgain = 150;
const patienceMs = 45 * 60_000;

/** What is added up over all seeds. */
const counted = ['accepted', 'answered', 'deaths', 'repeated', 'superseded', 'rated', 'deleted', 'directed', 'strange'] as const;

const sumOf = (results: readonly SimulationResult[], name: (typeof counted)[number]): number =>
  results.reduce((sum, result) => sum + result[name], 0);

describe('the simulated system', () => {
  it(
    `keeps every promise over ${fewestSeeds} to ${mostSeeds} seeds, with a process killed at every declared crash point`,
    async () => {
      const coverage = new Coverage();
      const cpu = process.cpuUsage();
      const secondsUsed = (): number => {
        const { user, system } = process.cpuUsage(cpu);
        return (user + system) / 1e6;
      };
      const results: SimulationResult[] = [];
      for (let seed = 0; seed < fewestSeeds || (seed < mostSeeds && secondsUsed() < secondsForMore); seed += 1)
        results.push(await simulate({ seed, target: targetOf(seed), cover: coverage.note }));
      const seeds = results.length;
      // A point that was aimed at and missed, because the run went another way, is aimed at again with other seeds.
      const again: string[] = [];
      for (const key of coverage.missed()) {
        for (let seed = mostSeeds; seed < mostSeeds + triesAgain && !coverage.killed.has(key); seed += 1) {
          const { violations } = await simulate({ seed, target: aimAt(key), cover: coverage.note });
          again.push(
            ...violations.map(
              ({ check, id, sentence }) => `npm run simulate -- --seed ${seed} --at "${key}"   # ${check}: ${id} ${sentence}`,
            ),
          );
        }
      }
      const sums = counted.map((name) => `${sumOf(results, name)} ${name}`);
      process.stderr.write(
        `simulation: ${seeds} seeds, ${secondsUsed().toFixed(0)} s of one core, ${sums.join(', ')}; ${coverage.report()}\n`,
      );

      const broken = results.flatMap(({ seed, violations }) =>
        violations.map(({ check, id, sentence }) => `npm run simulate -- --seed ${seed}   # ${check}: ${id} ${sentence}`),
      );
      expect([...broken, ...again]).toEqual([]);
      expect(coverage.undeclared()).toEqual([]);
      expect(coverage.missed()).toEqual([]);
      // A system that refused everything difficult, or gave up on it, would keep every promise too.
      expect(sumOf(results, 'accepted')).toBeGreaterThan(seeds);
      expect(sumOf(results, 'answered')).toBeGreaterThan(0.75 * sumOf(results, 'accepted'));
      expect(sumOf(results, 'deaths')).toBeGreaterThan(seeds);
      expect(sumOf(results, 'repeated')).toBeGreaterThan(0);
      expect(sumOf(results, 'superseded')).toBeGreaterThan(0);
      for (const name of ['rated', 'deleted', 'strange'] as const) expect(sumOf(results, name)).toBeGreaterThan(0.03 * seeds);
      expect(sumOf(results, 'directed')).toBeGreaterThan(0.01 * seeds);
    },
    patienceMs,
  );

  // Three processes died while they held the record of a document: it has failed and left nothing, and its record is a dead letter.
  it.each([
    ['graph-ingest settings.read before', [336, 581]],
    ['graph-ingest settings.read after', [6, 424]],
  ])('keeps every promise in storms that once broke one: killed at %s, seeds %p', async (point, stormy) => {
    for (const seed of stormy) expect((await simulate({ seed, target: aimAt(point) })).violations).toEqual([]);
  });

  it(
    'produces exactly the same trace for the same seed, to the last line',
    async () => {
      const traceOf = async (seed: number): Promise<{ readonly lines: readonly string[]; readonly result: SimulationResult }> => {
        const lines: string[] = [];
        const result = await simulate({ seed, target: targetOf(seed), line: (line) => lines.push(line) });
        return { lines, result };
      };
      for (const seed of [3, 10, 47, 101, 1_333]) {
        const [first, again] = [await traceOf(seed), await traceOf(seed)];
        expect(again.lines).toEqual(first.lines);
        expect(again.result).toEqual(first.result);
        // Watching a world does not change it.
        expect((await simulate({ seed, target: targetOf(seed) })).traceHash).toBe(first.result.traceHash);
        expect((await simulate({ seed: seed + 1, target: targetOf(seed + 1) })).traceHash).not.toBe(first.result.traceHash);
      }
    },
    patienceMs,
  );
});
