import { byCategoryAndModel, summedUpdates, type CategoryScore, type Score, type ScoreChange, type Scores } from '@conclave/ports';
import type { Store } from '../database/database.js';
import { nameFrom, storedName } from './stored-name.js';

interface RatingCounts {
  readonly positive: number;
  readonly negative: number;
}

export class SqliteScores implements Scores {
  constructor(
    private readonly database: Store,
    private readonly now: () => number,
  ) {}

  async add({ eventId, tenant: givenTenant, updates }: ScoreChange): Promise<boolean> {
    const added = summedUpdates(updates);
    const [tenant, event] = [storedName(givenTenant), storedName(eventId)];
    return this.database.write(({ sql }) => {
      if (sql.run('UPDATE score_event SET at = ? WHERE tenant = ? AND event_id = ?', this.now(), tenant, event) > 0) return false;
      sql.run('INSERT INTO score_event (tenant, event_id, at) VALUES (?, ?, ?)', tenant, event, this.now());
      for (const { category, model, positive, negative } of added)
        sql.run(
          `INSERT INTO score (tenant, category, model, positive, negative) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET positive = positive + excluded.positive, negative = negative + excluded.negative`,
          tenant,
          storedName(category),
          storedName(model),
          positive,
          negative,
        );
      return true;
    });
  }

  async read({ tenant, category, models }: Parameters<Scores['read']>[0]): Promise<readonly Score[]> {
    const names = [storedName(tenant), storedName(category)] as const;
    const select = 'SELECT positive, negative FROM score WHERE tenant = ? AND category = ? AND model = ?';
    return this.database.read((sql) =>
      models.map((model) => {
        const found = sql.get<RatingCounts>(select, ...names, storedName(model));
        return { model, positive: found?.positive ?? 0, negative: found?.negative ?? 0 };
      }),
    );
  }

  async all(tenant: string): Promise<readonly CategoryScore[]> {
    const rows = this.database.read((sql) =>
      sql.all<CategoryScore>('SELECT category, model, positive, negative FROM score WHERE tenant = ?', storedName(tenant)),
    );
    return rows
      .map(({ category, model, positive, negative }) => ({ category: nameFrom(category), model: nameFrom(model), positive, negative }))
      .sort(byCategoryAndModel);
  }
}
