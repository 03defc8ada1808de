import { beforeAll, describe, expect, it } from '@jest/globals';
import { buildWorkspace, importedBy, runBench } from './__fixtures__/bench.js';

/**
 * The form of the printed reports, which must not depend on the machine; the figures themselves are not judged here. Only a few benchmarks
 * that need no server are run: the others consist of the same parts, and are run by hand when their figures are needed.
 */
describe('npm run bench without servers', () => {
  beforeAll(() => buildWorkspace(), 180_000);

  it('measures B2, prints the settings of the store and a ratio for 1 and for many at a time, and ends with 1 if a target is missed', async () => {
    const { code, text } = await runBench(['B2', '--quick', '--judge']);
    expect(text).toContain('SQLite: journal_mode wal, synchronous NORMAL');
    expect(text).toMatch(/overhead per run, 1 at a time, against no engine, nothing stored:\n\s+[\d.]+ ms \[.*\], RATIO [\d.]+x/);
    expect(text).toMatch(/overhead per run, 8 at a time, .*\n\s+[\d.]+ ms \[.*\], RATIO [\d.]+x/);
    expect(text).toMatch(/RATIO [\d.]+x .*target >= 3 x: (met|NOT MET)|LangGraph\.js is not installed/);
    expect(text).toMatch(/\nMissed:\n {2}B2: |\nNo target was missed\./);
    expect(code).toBe(text.includes('\nMissed:') ? 1 : 0);
  }, 60_000);

  it("measures B1 next to Portkey's gateway if that is installed", async () => {
    const { code, text } = await runBench(['B1', '--quick']);
    expect(text).toMatch(/Conclave embedded +[\d.]+ \[.*n=1\] +[\d.]+ \[.*n=1\]\n/);
    expect(text).toMatch(/latency added to a request alone, p50, against direct:\n\s+[\d.]+ ms .*; no target/);
    expect(text).toMatch(
      /requests per second, against Portkey:\n\s+RATIO [\d.]+x .*target >= 1 x: (met|NOT MET)|Portkey's gateway is not installed/,
    );
    expect(code).toBe(0);
  }, 60_000);

  it('measures B9 and judges both kinds of hits', async () => {
    const { code, text } = await runBench(['B9', '--quick']);
    expect(text).toMatch(/exact hit: .*\n\s+[\d.]+ ms \[.*\], RATIO [\d.]+x \[.*\]; target <= 5 ms: (met|NOT MET)/);
    expect(text).toMatch(/semantic hit: .*\n\s+[\d.]+ ms \[.*\], RATIO [\d.]+x \[.*\]; target <= 30 ms: (met|NOT MET)/);
    expect(code).toBe(0);
  }, 60_000);

  it('measures B12 with exactly the calls that four sub-topics need', async () => {
    const { code, text } = await runBench(['B12', '--quick']);
    expect(text).toMatch(/model calls, .*: 6:\n\s+RATIO 1\.000x .*: met/);
    expect(text).toMatch(/wall time, .*\n\s+RATIO [\d.]+x .*target <= 1\.2 x: (met|NOT MET)/);
    expect(code).toBe(0);
  }, 60_000);

  it.each([
    ['planner', 2_060_000],
    ['experts', 2_118_000],
    ['merger', 2_073_000],
    ['graph-ingest', 2_069_000],
    // The gateway has the most routes, and each service reads questions for the case that a budget leaves no plan; the words that are
    // written into answers in 17 languages are 32 KB. B13 judges the time of a start.
    ['gateway', 2_392_000],
  ] as const)('lets %s import at most %d bytes before its configuration is read', (app, most) => {
    expect(importedBy(app)).toBeGreaterThan(500_000);
    expect(importedBy(app)).toBeLessThan(most);
  });

  it('lists the known benchmarks for an unknown one, and prints no host name', async () => {
    const { code, text } = await runBench(['B99']);
    expect(text).toContain('There is no benchmark B99');
    for (const id of ['B1', 'B2', 'B3', 'B4', 'B5', 'B6', 'B7', 'B8', 'B9', 'B10', 'B12', 'B13', 'B14']) expect(text).toContain(id);
    expect(code).toBe(2);
  });
});
