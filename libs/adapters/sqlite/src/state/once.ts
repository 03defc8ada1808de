import { wholeMs, type Once, type OnceClaim } from '@conclave/ports';
import type { Store } from '../database/database.js';
import { nameFrom, storedName } from './stored-name.js';

export class SqliteOnce implements Once {
  constructor(
    private readonly database: Store,
    private readonly now: () => number,
  ) {}

  async claim({ tenant, name, holder, ttlMs }: OnceClaim): Promise<{ readonly mine: boolean; readonly holder: string }> {
    const lifeMs = ttlMs === null ? null : wholeMs(ttlMs);
    const place = [storedName(tenant), storedName(name)] as const;
    return this.database.write(({ sql }) => {
      const now = this.now();
      const held = sql.get<{ holder: string }>(
        'SELECT holder FROM once WHERE tenant = ? AND name = ? AND (expires_at IS NULL OR expires_at > ?)',
        ...place,
        now,
      );
      if (held) return { mine: held.holder === storedName(holder), holder: nameFrom(held.holder) };
      sql.run(
        'INSERT OR REPLACE INTO once (tenant, name, holder, expires_at) VALUES (?, ?, ?, ?)',
        ...place,
        storedName(holder),
        lifeMs === null ? null : now + lifeMs,
      );
      return { mine: true, holder };
    });
  }
}
