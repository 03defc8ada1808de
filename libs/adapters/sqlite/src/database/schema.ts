/**
 * Version 1. Times are milliseconds since 1970, JSON is stored in TEXT columns, flags are 0 or 1.
 * `log.seq` never repeats, even after the newest rows are pruned (AUTOINCREMENT).
 */
export const firstSchema = `
CREATE TABLE identity (
  side TEXT PRIMARY KEY CHECK (side IN ('state', 'log')),
  store_id TEXT NOT NULL,
  generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  topic TEXT NOT NULL,
  key TEXT,
  event_id TEXT NOT NULL,
  headers TEXT NOT NULL,
  body BLOB,
  appended_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX log_event ON log (topic, event_id);
CREATE INDEX log_topic ON log (topic, seq);

CREATE TABLE log_cursor (
  group_name TEXT NOT NULL,
  topic TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (group_name, topic)
) STRICT, WITHOUT ROWID;
CREATE TABLE log_finished (
  group_name TEXT NOT NULL,
  topic TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (group_name, topic, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery (
  group_name TEXT NOT NULL,
  record TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  openers TEXT NOT NULL,
  PRIMARY KEY (group_name, record)
) STRICT, WITHOUT ROWID;
CREATE TABLE opening (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE run (
  run_id TEXT PRIMARY KEY,
  tenant TEXT,
  accepted_at INTEGER NOT NULL,
  header TEXT,
  version INTEGER NOT NULL DEFAULT 0,
  state TEXT,
  status TEXT NOT NULL,
  terminal INTEGER NOT NULL DEFAULT 0,
  ended_at INTEGER
) STRICT;
CREATE INDEX run_tenant ON run (tenant, accepted_at);
CREATE INDEX run_accepted ON run (accepted_at);
CREATE INDEX run_open ON run (accepted_at) WHERE terminal = 0;
CREATE INDEX run_stateless ON run (accepted_at) WHERE version = 0;
CREATE INDEX run_ended ON run (ended_at) WHERE terminal = 1;

CREATE TABLE applied (
  run_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  outputs TEXT NOT NULL,
  PRIMARY KEY (run_id, event_id)
) STRICT;
CREATE TABLE retry (
  retry_key TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE cancel (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE command_seq (
  run_id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE attached (
  run_id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  PRIMARY KEY (run_id, client_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE timer (
  run_id TEXT NOT NULL,
  name TEXT NOT NULL,
  arm INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  task_id TEXT,
  task_class TEXT,
  PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX timer_due ON timer (due_at);

CREATE TABLE journal (
  run_id TEXT NOT NULL,
  step TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  owner TEXT,
  opening INTEGER NOT NULL,
  nonce TEXT NOT NULL,
  repeated INTEGER NOT NULL,
  outcome TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (run_id, step)
) STRICT;

CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE stream (
  run_id TEXT PRIMARY KEY,
  last INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX stream_ended ON stream (ended_at) WHERE ended_at IS NOT NULL;
CREATE TABLE stream_entry (
  run_id TEXT NOT NULL,
  id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (run_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE stream_task (
  run_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  progress TEXT NOT NULL,
  PRIMARY KEY (run_id, task_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE blob (
  sha256 TEXT PRIMARY KEY,
  body BLOB NOT NULL,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE graph_synthesis (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  text TEXT NOT NULL,
  insight_type TEXT NOT NULL,
  domain TEXT NOT NULL,
  confidence REAL NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE graph_synthesis_run (
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  synthesis_id TEXT NOT NULL,
  PRIMARY KEY (tenant, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_run_of ON graph_synthesis_run (tenant, synthesis_id);
CREATE TABLE graph_entity (
  tenant TEXT NOT NULL,
  normal TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (tenant, normal)
) STRICT, WITHOUT ROWID;
CREATE TABLE graph_related (
  tenant TEXT NOT NULL,
  entity TEXT NOT NULL,
  synthesis_id TEXT NOT NULL,
  PRIMARY KEY (tenant, entity, synthesis_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_entities_of ON graph_related (tenant, synthesis_id);
`;

/**
 * Version 2. History of settings, caches, scores, and one-time claims. External names (tenants, keys, tags, models) are stored as JSON strings:
 * SQLite would cut them at a NUL character and treat all lone surrogates as equal.
 */
export const secondSchema = `
CREATE TABLE setting_version (
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (name, version)
) STRICT;
INSERT INTO setting_version (name, version, at, value)
  SELECT name, version, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), value FROM setting;

CREATE TABLE cache (
  id INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  tags TEXT NOT NULL,
  written_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX cache_key ON cache (tenant, key);
CREATE INDEX cache_expiry ON cache (expires_at);
CREATE TABLE cache_tag (
  tenant TEXT NOT NULL,
  tag TEXT NOT NULL,
  cache_id INTEGER NOT NULL,
  PRIMARY KEY (tenant, tag, cache_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX cache_tags_of ON cache_tag (cache_id);
CREATE TABLE cache_ban (
  tenant TEXT NOT NULL,
  tag TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE score (
  tenant TEXT NOT NULL,
  category TEXT NOT NULL,
  model TEXT NOT NULL,
  positive REAL NOT NULL,
  negative REAL NOT NULL,
  PRIMARY KEY (tenant, category, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE score_event (
  tenant TEXT NOT NULL,
  event_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX score_event_at ON score_event (at);

CREATE TABLE once (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  holder TEXT NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX once_expiry ON once (expires_at) WHERE expires_at IS NOT NULL;
`;

/** Usage of calls: each attempt once, and sums per tenant, key and day (UTC). Names in the sums are JSON strings. */
export const usageSchema = `
ALTER TABLE run ADD COLUMN actor TEXT;
CREATE TABLE usage_call (
  run_id TEXT NOT NULL,
  step TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  prompt INTEGER NOT NULL,
  completion INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost REAL NOT NULL,
  estimated INTEGER NOT NULL,
  PRIMARY KEY (run_id, step, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE usage_account (
  tenant TEXT NOT NULL,
  actor TEXT NOT NULL,
  day TEXT NOT NULL,
  calls INTEGER NOT NULL,
  prompt INTEGER NOT NULL,
  completion INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost REAL NOT NULL,
  estimated INTEGER NOT NULL,
  PRIMARY KEY (tenant, day, actor)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_account_day ON usage_account (day);
`;

/** Owners of attached clients, to recognize those of a dead process; runs without a waiting client; repeated calls. */
export const attachedSchema = `
ALTER TABLE attached ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE attached ADD COLUMN opening INTEGER NOT NULL DEFAULT 0;
CREATE TABLE parked (
  run_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE repeated_call (
  purpose TEXT PRIMARY KEY,
  calls INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** Stream entries of one run and tick are one row; the progress of its tasks follows from them. */
export const edgeSchema = `
DROP TABLE stream;
DROP TABLE stream_entry;
DROP TABLE stream_task;
CREATE TABLE stream (
  run_id TEXT PRIMARY KEY,
  first INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX stream_ended ON stream (ended_at) WHERE ended_at IS NOT NULL;
CREATE TABLE stream_entry (
  run_id TEXT NOT NULL,
  last INTEGER NOT NULL,
  at INTEGER NOT NULL,
  bodies TEXT NOT NULL,
  PRIMARY KEY (run_id, last)
) STRICT, WITHOUT ROWID;
`;
