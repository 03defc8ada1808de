import { beforeAll, describe, expect, it } from '@jest/globals';
import { buildWorkspace, runBench } from './__fixtures__/bench.js';

/** One benchmark of starts and one of load; B3 and B4 are run by hand, when their figures are needed. */
describe('npm run bench with Kafka and Redis', () => {
  beforeAll(() => buildWorkspace(), 180_000);

  it('measures B13 and judges each service', async () => {
    const { code, text } = await runBench(['B13', '--quick', '--judge']);
    expect(text.match(/[\d.]+ ms \[.*\], RATIO [\d.]+x \[.*\]; target <= 600 ms: (met|NOT MET)/g)).toHaveLength(5);
    for (const service of ['planner', 'experts', 'merger', 'graph-ingest', 'gateway'])
      expect(text).toContain(`${service}: processor time until it is ready`);
    expect(code).toBe(text.includes('\nMissed:') ? 1 : 0);
  }, 280_000);

  it('measures B5 next to a worker without long tasks', async () => {
    const { code, text } = await runBench(['B5', '--quick']);
    expect(text).toMatch(/RATIO [\d.]+x \[.*\]; target <= 1\.2 x: (met|NOT MET)/);
    expect(code).toBe(0);
  }, 280_000);
});
