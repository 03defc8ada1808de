import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Database from 'libsql';

/** The content of a data folder, read without the product. */
export interface FolderContent {
  /** Records of the log in its order, each with all its fields. */
  readonly records: readonly string[];
  /** Ids of their events. */
  readonly eventIds: readonly string[];
  /** One hash over every other table. */
  readonly rest: string;
  /** Runs that have not ended. */
  readonly open: readonly string[];
  /** Steps whose call is finished. */
  readonly finishedCalls: readonly string[];
  /** Outputs of applied steps that are missing from the log: state and log disagree about them. */
  readonly missingOutputs: readonly string[];
}

/** Tables that every opening of the folder changes. */
const changing: ReadonlySet<string> = new Set(['log', 'opening', 'sqlite_sequence']);

/** Opens the database of an unused folder. Throws if it cannot be read or is damaged. */
export function contentOf(home: string): FolderContent {
  const database = new Database(join(home, 'conclave.db'));
  const all = <Row>(text: string): readonly Row[] => database.prepare(text).all() as Row[];
  // As text: the binding's value for bytes has no JSON form.
  const columnsOf = (table: string): string =>
    all<{ name: string }>(`PRAGMA table_info(${table})`)
      .map(({ name }) => `quote(${name}) AS ${name}`)
      .join(', ');
  try {
    const [damage] = all<{ integrity_check: string }>('PRAGMA integrity_check');
    if (damage?.integrity_check !== 'ok') throw new Error(`The database is damaged: ${damage?.integrity_check}`);
    const log = all<{ seq: number; topic: string; event_id: string; headers: string; body: string }>(
      'SELECT seq, topic, event_id, headers, hex(coalesce(body, packed)) AS body FROM log ORDER BY seq',
    );
    const eventIds = log.map(({ event_id }) => event_id);
    const logged = new Set(eventIds);
    const tables = all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .map(({ name }) => name)
      .filter((name) => !changing.has(name));
    const outputs = all<{ outputs: string }>('SELECT outputs FROM applied').flatMap(
      ({ outputs }) => JSON.parse(outputs) as readonly { readonly id: string }[],
    );
    return {
      records: log.map(({ seq, topic, event_id, headers, body }) => `${seq} ${topic} ${event_id} ${hash([headers, body])}`),
      eventIds,
      rest: hash(tables.map((name) => [name, all(`SELECT ${columnsOf(name)} FROM ${name}`)])),
      open: all<{ run_id: string }>('SELECT run_id FROM run WHERE terminal = 0').map(({ run_id }) => run_id),
      finishedCalls: all<{ step: string }>('SELECT step FROM journal WHERE outcome IS NOT NULL').map(({ step }) => step),
      missingOutputs: outputs.map(({ id }) => id).filter((id) => !logged.has(id)),
    };
  } finally {
    database.close();
  }
}

const hash = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
