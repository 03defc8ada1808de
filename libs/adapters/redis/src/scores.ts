import { randomUUID } from 'node:crypto';
import {
  byCategoryAndModel,
  summedUpdates,
  type CategoryScore,
  type Score,
  type ScoreChange,
  type Scores,
  type StoreTtl,
} from '@conclave/ports';
import type { RedisConnection } from './connection.js';
import type { Keys } from './keys.js';
import { inPairs } from './scripts/script.js';
import { addScores, allScores, readScores } from './scripts/scores.js';

type Sign = 'positive' | 'negative';

const fieldOf = (sign: Sign, category: string, model: string): string => JSON.stringify([sign, category, model]);

/** One hash per tenant, with two fields for each category and model. */
export class RedisScores implements Scores {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly ttl: StoreTtl,
  ) {}

  async add({ eventId, tenant, updates }: ScoreChange): Promise<boolean> {
    const changes = summedUpdates(updates).flatMap(({ category, model, positive, negative }) => [
      ...[fieldOf('positive', category, model), positive],
      ...[fieldOf('negative', category, model), negative],
    ]);
    const { at, key } = this.keys.scores(tenant);
    const keys = [this.keys.scoreEvent(tenant, eventId).key, key];
    return (await this.connection.run(at, addScores, keys, [randomUUID(), this.ttl.retentionMs, ...changes])) === 1;
  }

  async read({ tenant, category, models }: Parameters<Scores['read']>[0]): Promise<readonly Score[]> {
    const fields = models.flatMap((model) => [fieldOf('positive', category, model), fieldOf('negative', category, model)]);
    const { at, key } = this.keys.scores(tenant);
    const found = await this.connection.run(at, readScores, [key], fields);
    return models.map((model, n) => ({ model, positive: Number(found[2 * n]), negative: Number(found[2 * n + 1]) }));
  }

  async all(tenant: string): Promise<readonly CategoryScore[]> {
    const { at, key } = this.keys.scores(tenant);
    const scores = new Map<string, CategoryScore>();
    for (const [field, count] of inPairs(await this.connection.run(at, allScores, [key], []))) {
      const [sign, category, model] = JSON.parse(field) as [Sign, string, string];
      const name = JSON.stringify([category, model]);
      scores.set(name, { category, model, positive: 0, negative: 0, ...scores.get(name), [sign]: Number(count) });
    }
    return [...scores.values()].sort(byCategoryAndModel);
  }
}
