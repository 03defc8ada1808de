import type { DeliveryKey, DeliveryLedger } from '@conclave/ports';
import type { Store, Tick } from '../database/database.js';
import type { ProcessLeases } from './leases.js';

interface Opener {
  readonly opener: string;
  readonly opening: number;
}

export class SqliteDeliveries implements DeliveryLedger {
  constructor(
    private readonly database: Store,
    private readonly leases: ProcessLeases,
    private readonly processId: string,
  ) {}

  begin({ group, record }: DeliveryKey): Promise<{ readonly attempts: number; readonly deaths: number; readonly suspects: number }> {
    const { opening } = this.database;
    return this.database.write(({ sql }) => {
      const opened = sql.run(
        'INSERT INTO delivery_opener (group_name, record, opener, opening) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
        group, record, this.processId, opening,
      ); // prettier-ignore
      // The same process begins again only what it never closed: that is still the same attempt.
      const { attempts } = sql.get<{ attempts: number }>(
        `INSERT INTO delivery (group_name, record, attempts) VALUES (?, ?, 1)
         ON CONFLICT DO UPDATE SET attempts = attempts + ? RETURNING attempts`,
        group, record, opened,
      )!; // prettier-ignore
      const others = sql
        .all<Opener>('SELECT opener, opening FROM delivery_opener WHERE group_name = ? AND record = ?', group, record)
        .filter((other) => other.opener !== this.processId || other.opening !== opening);
      const deaths = others.filter((other) => other.opening !== opening || this.leases.leftMs(other.opener) === 0).length;
      return { attempts, deaths, suspects: others.length - deaths };
    });
  }

  failed(delivery: DeliveryKey): Promise<void> {
    return this.database.write((tick) => {
      this.#close(tick, delivery);
    });
  }

  released(delivery: DeliveryKey): Promise<void> {
    return this.database.write((tick) => {
      if (this.#close(tick, delivery) === 0) return;
      const { group, record } = delivery;
      tick.sql.run('UPDATE delivery SET attempts = attempts - 1 WHERE group_name = ? AND record = ?', group, record);
      tick.sql.run('DELETE FROM delivery WHERE group_name = ? AND record = ? AND attempts <= 0', group, record);
    });
  }

  done(delivery: DeliveryKey): Promise<void> {
    return this.database.write((tick) => forgetDelivery(tick, delivery));
  }

  #close({ sql }: Tick, { group, record }: DeliveryKey): number {
    return sql.run(
      'DELETE FROM delivery_opener WHERE group_name = ? AND record = ? AND opener = ? AND opening = ?',
      group, record, this.processId, this.database.opening,
    ); // prettier-ignore
  }
}

/** Drops all counts of a finished record, inside a write that is under way. */
export function forgetDelivery({ sql }: Tick, { group, record }: DeliveryKey): void {
  sql.run('DELETE FROM delivery_opener WHERE group_name = ? AND record = ?', group, record);
  sql.run('DELETE FROM delivery WHERE group_name = ? AND record = ?', group, record);
}
