import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openSqlite, type Sqlite } from '@conclave/adapter-sqlite';
import { KnowledgeProposed, makeEvent, noUsage, RunCompleted } from '@conclave/contracts';
import { silentLogger, type DeliveryContext } from '@conclave/platform';
import { LearningHandler } from '@conclave/service-learning';
import { observationsToSkip, skippedBelow, thompsonOrder, type RandomSource } from '@conclave/service-planner';

const [tenant, category] = ['acme', 'general'];
const context = { signal: new AbortController().signal } as DeliveryContext;

/** Park and Miller's generator: the same runs on every machine. */
function seeded(seed: number): RandomSource {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const runBy = (model: string, runId: string, confidence: number): RunCompleted =>
  makeEvent(
    RunCompleted,
    { id: `${runId}/completed`, runId, source: 'merger', time: 10 },
    {
      outcome: 'completed',
      rule: 'D3',
      reason: 'It is complete.',
      reasonCode: 'sufficient',
      question: `Question of ${runId}?`,
      answer: 'An answer.',
      cutShort: false,
      sources: [],
      insight: null,
      history: [],
      rounds: 1,
      usage: noUsage,
      caller: { tenant, actor: 'me' },
      template: { id: 'conclave', version: 'v1', strategy: 'agentic' },
      caching: { exact: null, scope: null },
      failure: null,
      startedAt: 1,
      completedAt: 10,
      experts: [{ taskId: `${runId}/0/x1`, category, model, tier: 't1', confidence, gaps: [], status: 'ok' }],
    },
  );
const ratingOf = (runId: string, rating: number): KnowledgeProposed =>
  makeEvent(
    KnowledgeProposed,
    { id: `feedback-${runId}`, runId, source: 'gateway', time: 20 },
    { kind: 'feedback', tenant, actor: 'me', text: '', about: runId, rating, proposedAt: 20 },
  );

describe('the models of a category, over rated runs and the embedded store', () => {
  let home: string;
  let sqlite: Sqlite;
  let learning: LearningHandler;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'conclave-scores-'));
    sqlite = openSqlite({ home, processId: 'one', durability: 'process', logger: silentLogger });
    learning = new LearningHandler(sqlite.state, null, null, silentLogger);
  });
  afterEach(async () => {
    await sqlite.close();
    rmSync(home, { recursive: true, force: true });
  });

  const scores = (models: readonly string[]) => sqlite.state.scores.read({ tenant, category, models });
  let runs = 0;
  /** A run answered by the model and then rated. */
  async function ratedRun(model: string, { confidence, rating }: { confidence: number; rating: number }): Promise<void> {
    const runId = `run_${String((runs += 1)).padStart(8, '0')}`;
    await learning.onCompleted(runBy(model, runId, confidence), context);
    await learning.onProposed(ratingOf(runId, rating));
  }

  it('calls the worse of two equally confident ones in less than 20 % of 200 runs', async () => {
    const random = seeded(2_026);
    const models = ['worse', 'better'];
    const asked: string[] = [];
    for (let run = 0; run < 200; run += 1) {
      const first = thompsonOrder(await scores(models), random)[0]!;
      asked.push(first);
      const isGood = random() < (first === 'better' ? 0.9 : 0.3);
      await ratedRun(first, { confidence: 0.7, rating: isGood ? 5 : 1 });
    }
    const worse = asked.filter((model) => model === 'worse').length;
    expect(worse).toBeGreaterThan(0);
    expect(worse).toBeLessThan(40);
    const known = await scores(models);
    // Each run counts twice for its model: by its expert's confidence and by its rating.
    expect(known.map(({ positive, negative }) => Math.round(positive + negative))).toEqual([2 * worse, 2 * (200 - worse)]);
  });

  it('are both called without any ratings: the effect above comes from the feedback', async () => {
    const random = seeded(2_026);
    let worse = 0;
    for (let run = 0; run < 200; run += 1) {
      const first = thompsonOrder(await scores(['worse', 'better']), random)[0]!;
      if (first === 'worse') worse += 1;
      await learning.onCompleted(runBy(first, `run_${String((runs += 1)).padStart(8, '0')}`, 0.7), context);
    }
    expect(worse).toBeGreaterThanOrEqual(40);
  });

  it(`skip one below ${skippedBelow} once ${observationsToSkip} outcomes are known, and not before`, async () => {
    const random = seeded(7);
    const order = async (): Promise<readonly string[]> => thompsonOrder(await scores(['bad', 'new']), random);
    // An unsure run counts as one bad outcome, its bad rating as another.
    await ratedRun('bad', { confidence: 0, rating: 1 });
    await ratedRun('bad', { confidence: 0, rating: 1 });
    expect([...(await order())].sort()).toEqual(['bad', 'new']);
    await ratedRun('bad', { confidence: 0, rating: 1 });
    for (let draw = 0; draw < 50; draw += 1) expect(await order()).toEqual(['new']);
  });
});
