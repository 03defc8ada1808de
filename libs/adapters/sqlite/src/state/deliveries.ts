import type { DeliveryKey, DeliveryLedger } from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import type { ProcessLeases } from './leases.js';

/** Who has begun the record and not ended it: process id and opening of the file. */
type Opener = readonly [id: string, opening: number];

interface Counts {
  readonly attempts: number;
  readonly openers: readonly Opener[];
}

export class SqliteDeliveries implements DeliveryLedger {
  constructor(
    private readonly database: Store,
    private readonly leases: ProcessLeases,
    private readonly processId: string,
  ) {}

  begin(delivery: DeliveryKey): Promise<{ readonly attempts: number; readonly deaths: number; readonly suspects: number }> {
    return this.database.write((tick) => {
      const { attempts, openers } = countsOf(tick, delivery);
      const others = openers.filter((opener) => !this.isOwn(opener));
      // The same process begins again only what it never closed: that is still the same attempt.
      const begun = attempts + (others.length === openers.length ? 1 : 0);
      store(tick, delivery, { attempts: begun, openers: [...others, [this.processId, this.database.opening]] });
      const deaths = others.filter(([id, opening]) => opening !== this.database.opening || this.leases.leftMs(id) === 0).length;
      return { attempts: begun, deaths, suspects: others.length - deaths };
    });
  }

  failed(delivery: DeliveryKey): Promise<void> {
    return this.end(delivery, (attempts) => attempts);
  }

  released(delivery: DeliveryKey): Promise<void> {
    return this.end(delivery, (attempts) => attempts - 1);
  }

  done(delivery: DeliveryKey): Promise<void> {
    return this.database.write((tick) => forgetDelivery(tick, delivery));
  }

  private end(delivery: DeliveryKey, attemptsAfter: (attempts: number) => number): Promise<void> {
    return this.database.write((tick) => {
      const { attempts, openers } = countsOf(tick, delivery);
      const others = openers.filter((opener) => !this.isOwn(opener));
      if (others.length === openers.length) return;
      const left = attemptsAfter(attempts);
      if (left <= 0 && others.length === 0) forgetDelivery(tick, delivery);
      else store(tick, delivery, { attempts: left, openers: others });
    });
  }

  private isOwn([id, opening]: Opener): boolean {
    return id === this.processId && opening === this.database.opening;
  }
}

/** Drops all counts of a finished record, inside a write that is under way. */
export function forgetDelivery({ sql }: Tick, { group, record }: DeliveryKey): void {
  sql.run('DELETE FROM delivery WHERE group_name = ? AND record = ?', group, record);
}

function countsOf({ sql }: Tick, { group, record }: DeliveryKey): Counts {
  const row = sql.get<{ attempts: number; openers: string }>(
    'SELECT attempts, openers FROM delivery WHERE group_name = ? AND record = ?',
    group,
    record,
  );
  return row ? { attempts: row.attempts, openers: JSON.parse(row.openers) as Opener[] } : { attempts: 0, openers: [] };
}

function store({ sql }: Tick, { group, record }: DeliveryKey, { attempts, openers }: Counts): void {
  sql.run(
    'INSERT OR REPLACE INTO delivery (group_name, record, attempts, openers) VALUES (?, ?, ?, ?)',
    group,
    record,
    attempts,
    JSON.stringify(openers),
  );
}
