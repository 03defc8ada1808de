import { beforeAll, describe, expect, it } from '@jest/globals';
import { isMet } from '../evaluation.js';
import { moods } from './committee-replies.js';
import { costFindings, costSections } from './costs-report.js';
import { measureLevels, sampleOf, type RunCosts } from './level-costs.js';
import { levels } from './prompts/written.js';

describe('the cost of a level', () => {
  let costs: readonly RunCosts[];
  beforeAll(async () => {
    costs = await measureLevels(sampleOf(1), moods);
  }, 60_000);

  it("is one expert and one model call for a trivial question, whatever the model's confidence", () => {
    const trivial = costs.filter(({ prompt }) => prompt.level === 'trivial');
    expect(trivial).toHaveLength(4);
    for (const run of trivial) expect(run).toMatchObject({ level: 'trivial', calls: 1, experts: 1, served: 1 });
  });

  it('is higher for each level above, and higher when no model is confident', () => {
    const callsOf = (mood: RunCosts['mood']): readonly number[] =>
      levels.map((level) => Math.min(...costs.filter((run) => run.level === level && run.mood === mood).map(({ calls }) => calls)));
    for (const mood of moods) expect([...new Set(callsOf(mood))].sort((a, b) => a - b)).toEqual(callsOf(mood));
    expect(callsOf('unsure')[1]).toBeGreaterThan(callsOf('sure')[1]!);
  });

  it('is counted by the runs as the model server saw it', () => {
    for (const { calls, served, promptTokens } of costs) {
      expect(calls).toBe(served);
      expect(promptTokens).toBeGreaterThan(0);
    }
    expect(costFindings(costs).filter((finding) => !isMet(finding))).toEqual([]);
  });

  it('is judged by figures that change with a second call of a trivial run', () => {
    const wrong = costs.map((run) => (run.level === 'trivial' ? { ...run, calls: 2 } : run));
    expect(
      costFindings(wrong)
        .filter((finding) => !isMet(finding))
        .map(({ what }) => what),
    ).toEqual(['most model calls of a trivial run', 'runs whose calls differ from those of the model server']);
    expect(
      costSections(costs)
        .flatMap(({ lines }) => lines)
        .filter((line) => line.startsWith('trivial')),
    ).toHaveLength(2);
  });
});
