import type { StateStore, StoreMark } from '@conclave/ports';
import type { Store } from '../database/database.js';
import type { Statements } from '../database/tick-writer.js';

export const markOf = (sql: Statements, side: 'state' | 'log'): StoreMark | null => {
  const row = sql.get<{ store_id: string; generation: number }>('SELECT store_id, generation FROM identity WHERE side = ?', side);
  return row ? { storeId: row.store_id, generation: row.generation } : null;
};

export const writeMark = (sql: Statements, side: 'state' | 'log', mark: StoreMark): void => {
  sql.run('INSERT OR REPLACE INTO identity (side, store_id, generation) VALUES (?, ?, ?)', side, mark.storeId, mark.generation);
};

export const stateIdentity = (database: Store): StateStore['identity'] => ({
  read: async () => database.read((sql) => markOf(sql, 'state')),
  start: (storeId) =>
    database.write(({ sql }) => {
      const present = markOf(sql, 'state');
      const mark = present ? { storeId: present.storeId, generation: present.generation + 1 } : { storeId, generation: 1 };
      writeMark(sql, 'state', mark);
      return mark;
    }),
});
