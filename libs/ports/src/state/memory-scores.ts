import { byCategoryAndModel, summedUpdates, type CategoryScore, type Score, type ScoreChange, type Scores } from './scores.js';

/** Event ids are kept as long as the stores. */
export class MemoryScores implements Scores {
  private readonly applied = new Set<string>();
  /** Tenant -> category and model -> score. */
  private readonly tenants = new Map<string, Map<string, CategoryScore>>();

  async add({ eventId, tenant, updates }: ScoreChange): Promise<boolean> {
    const added = summedUpdates(updates);
    const event = JSON.stringify([tenant, eventId]);
    if (this.applied.has(event)) return false;
    this.applied.add(event);
    const scores = this.tenants.get(tenant) ?? new Map<string, CategoryScore>();
    this.tenants.set(tenant, scores);
    for (const { category, model, positive, negative } of added) {
      const name = JSON.stringify([category, model]);
      const before = scores.get(name) ?? { positive: 0, negative: 0 };
      scores.set(name, { category, model, positive: before.positive + positive, negative: before.negative + negative });
    }
    return true;
  }

  async read({ tenant, category, models }: Parameters<Scores['read']>[0]): Promise<readonly Score[]> {
    const scores = this.tenants.get(tenant);
    return models.map((model) => {
      const found = scores?.get(JSON.stringify([category, model]));
      return { model, positive: found?.positive ?? 0, negative: found?.negative ?? 0 };
    });
  }

  async all(tenant: string): Promise<readonly CategoryScore[]> {
    return [...(this.tenants.get(tenant)?.values() ?? [])].sort(byCategoryAndModel);
  }
}
