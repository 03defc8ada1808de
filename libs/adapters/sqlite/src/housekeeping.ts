import { dayOf, identityTopic, keptRunMs, leastBodyMs, type Retention, retentionOf, StepRecorded, topicsFor } from '@conclave/contracts';
import { accountMs, defaultTtl, type StoreTtl } from '@conclave/ports';
import type { Store, Tick } from './database/database.js';
import { forgetCached } from './state/caches.js';

const day = 24 * 60 * 60 * 1000;
/** Most rows one transaction deletes, so that requests in its tick wait only a few milliseconds. */
const batch = 200;

/** How long records of a topic are kept. A body outlives the last record that may refer to it: a step is recorded after its input. */
const keptOf = (topic: string, retention: Retention | undefined): number =>
  retentionOf(topic, retention) + (topic === StepRecorded.topic ? 0 : day);

/** Journal, applied ids and tombstones outlive every record that can reopen their run, dead letters included. */
export const embeddedTtl = (retention?: Retention): StoreTtl => ({
  ...defaultTtl,
  retentionMs: keptRunMs(topicsFor(undefined, retention)),
});

/** Deletes expired rows, one batch per tick. Keeps rows of open runs and records that a group has not finished. */
export async function prune(store: Store, now: number, ttl: StoreTtl, retention?: Retention): Promise<void> {
  const longestMs = Math.max(leastBodyMs, ttl.retentionMs, ...topicsFor(undefined, retention).map(({ retentionMs }) => retentionMs));
  for (const topic of topicsIn(store)) {
    if (topic !== identityTopic) await repeat(store, (tick) => pruneTopic(tick, topic, now - keptOf(topic, retention)));
  }
  await repeat(store, (tick) => pruneStreams(tick, now - ttl.streamMs));
  await repeat(store, (tick) => pruneRuns(tick, now - ttl.retentionMs));
  await repeat(store, (tick) => pruneCaches(tick, now));
  await repeat(store, (tick) => pruneNamed(tick, 'once', ['tenant', 'name'], 'expires_at', now));
  await repeat(store, (tick) => pruneNamed(tick, 'score_event', ['tenant', 'event_id'], 'at', now - ttl.retentionMs));
  await store.write(({ sql }) => {
    sql.run('DELETE FROM cache_ban WHERE expires_at <= ?', now);
    sql.run('DELETE FROM retry WHERE at <= ?', now - ttl.retryKeyMs);
    sql.run(
      'DELETE FROM journal WHERE at <= ? AND NOT EXISTS (SELECT 1 FROM run WHERE run.run_id = journal.run_id)',
      now - ttl.retentionMs,
    );
    sql.run(
      'DELETE FROM usage_call WHERE at <= ? AND NOT EXISTS (SELECT 1 FROM run WHERE run.run_id = usage_call.run_id)',
      now - ttl.retentionMs,
    );
    // An erased run is remembered longer than the last record that may still arrive for it.
    sql.run('DELETE FROM erased_run WHERE at <= ?', now - longestMs - day);
    sql.run('DELETE FROM usage_account WHERE day < ?', dayOf(now - accountMs));
    sql.run(
      `DELETE FROM cancel WHERE at <= ? AND NOT EXISTS
         (SELECT 1 FROM run WHERE run.run_id = CASE instr(id, '/') WHEN 0 THEN id ELSE substr(id, 1, instr(id, '/') - 1) END)`,
      now - ttl.retentionMs,
    );
    // A body outlives the last record that may refer to it.
    sql.run('DELETE FROM blob WHERE at <= ?', now - longestMs - day);
  });
}

const topicsIn = (store: Store): readonly string[] =>
  store
    .read((sql) =>
      sql.all<{ topic: string }>(
        `WITH RECURSIVE t (topic) AS (
           SELECT MIN(topic) FROM log UNION ALL SELECT (SELECT MIN(topic) FROM log WHERE log.topic > t.topic) FROM t WHERE t.topic IS NOT NULL
         ) SELECT topic FROM t WHERE topic IS NOT NULL`,
      ),
    )
    .map(({ topic }) => topic);

async function repeat(store: Store, deleteBatch: (tick: Tick) => number): Promise<void> {
  while ((await store.write(deleteBatch)) === batch);
}

/** Records older than `before` that every known group has finished. */
function pruneTopic({ sql }: Tick, topic: string, before: number): number {
  const slowest = sql.get<{ position: number | null }>('SELECT MIN(position) AS position FROM log_cursor WHERE topic = ?', topic)?.position;
  const oldest = sql.all<{ seq: number; appended_at: number }>(
    'SELECT seq, appended_at FROM log WHERE topic = ? AND seq <= ? ORDER BY seq LIMIT ?',
    topic,
    slowest ?? Number.MAX_SAFE_INTEGER,
    batch,
  );
  const old = oldest.filter(({ appended_at }) => appended_at <= before);
  for (const { seq } of old) sql.run('DELETE FROM log WHERE seq = ?', seq);
  return old.length;
}

/** Deletes entries only: the end of the stream stays known as long as the run. */
function pruneStreams({ sql }: Tick, before: number): number {
  const ended = sql.all<{ run_id: string }>(
    'SELECT run_id FROM stream WHERE ended_at <= ? AND EXISTS (SELECT 1 FROM stream_entry WHERE stream_entry.run_id = stream.run_id) LIMIT ?',
    before,
    batch,
  );
  for (const { run_id } of ended) {
    sql.run('DELETE FROM stream_entry WHERE run_id = ?', run_id);
  }
  return ended.length;
}

function pruneCaches(tick: Tick, now: number): number {
  const over = tick.sql.all<{ id: number }>('SELECT id FROM cache WHERE expires_at <= ? LIMIT ?', now, batch);
  for (const { id } of over) forgetCached(tick, id);
  return over.length;
}

/** Deletes rows whose time is at or before `before` from a table with a two-column key. */
function pruneNamed({ sql }: Tick, table: string, [first, second]: readonly [string, string], time: string, before: number): number {
  return sql.run(
    `DELETE FROM ${table} WHERE (${first}, ${second}) IN (SELECT ${first}, ${second} FROM ${table} WHERE ${time} <= ? LIMIT ?)`,
    before,
    batch,
  );
}

const tablesOfRun = [
  'applied',
  'journal',
  'usage_call',
  'timer',
  'command_seq',
  'attached',
  'parked',
  'stream_entry',
  'stream',
  'run',
] as const;

/** Deletes ended runs, and rows of runs that were never accepted (left by stray records): those never end. */
function pruneRuns({ sql }: Tick, before: number): number {
  const over = sql.all<{ run_id: string }>(
    `SELECT run_id FROM run WHERE terminal = 1 AND ended_at <= ?
     UNION ALL SELECT run_id FROM run WHERE terminal = 0 AND header IS NULL AND accepted_at <= ? LIMIT ?`,
    before,
    before,
    batch,
  );
  for (const { run_id } of over) {
    // '0' is the character after '/': the range contains the flags of all its tasks.
    sql.run('DELETE FROM cancel WHERE id = ? OR (id > ? AND id < ?)', run_id, `${run_id}/`, `${run_id}0`);
    for (const table of tablesOfRun) sql.run(`DELETE FROM ${table} WHERE run_id = ?`, run_id);
  }
  return over.length;
}
