/**
 * A record may lack a body that is stored in another one (`part`). The state of a run may be older than its version, and that of an ended
 * run is deflated (`packed`). Rows of a run are adjacent: an index over ids that begin with the run, and tables without a second tree for
 * their keys. Only open runs have timers, so few that an index costs more than it saves.
 */
export const sparingSchema = `
ALTER TABLE log ADD COLUMN part TEXT;
ALTER TABLE run ADD COLUMN state_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN packed BLOB;
UPDATE run SET state_version = version;
DROP INDEX timer_due;
DROP INDEX log_event;
CREATE UNIQUE INDEX log_event ON log (event_id, topic);

CREATE TABLE applied_new (
  run_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  outputs TEXT NOT NULL,
  PRIMARY KEY (run_id, event_id)
) STRICT, WITHOUT ROWID;
INSERT INTO applied_new SELECT run_id, event_id, outputs FROM applied;
DROP TABLE applied;
ALTER TABLE applied_new RENAME TO applied;

CREATE TABLE journal_new (
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
) STRICT, WITHOUT ROWID;
INSERT INTO journal_new SELECT run_id, step, attempt, owner, opening, nonce, repeated, outcome, at FROM journal;
DROP TABLE journal;
ALTER TABLE journal_new RENAME TO journal;
`;

/** Sums of usage also by model and end user; earlier sums have neither. Names are JSON, and empty if there is none. */
export const itemisedSchema = `
CREATE TABLE usage_item (
  tenant TEXT NOT NULL,
  day TEXT NOT NULL,
  actor TEXT NOT NULL,
  model TEXT NOT NULL,
  end_user TEXT NOT NULL,
  calls INTEGER NOT NULL,
  prompt INTEGER NOT NULL,
  completion INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost REAL NOT NULL,
  estimated INTEGER NOT NULL,
  PRIMARY KEY (tenant, day, actor, model, end_user)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_item SELECT tenant, day, actor, '', '', calls, prompt, completion, reasoning, cost, estimated FROM usage_account;
DROP TABLE usage_account;
ALTER TABLE usage_item RENAME TO usage_account;
CREATE INDEX usage_account_day ON usage_account (day);
`;

/** The body of a record may be deflated: then it is in `packed`, and `body` is NULL. Older records stay as they are. */
export const packedSchema = `
ALTER TABLE log ADD COLUMN packed BLOB;
`;

/** Runs that were erased; `tombstone` is the JSON of what remains known of one. */
export const erasedSchema = `
CREATE TABLE erased_run (
  run_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  tombstone TEXT
) STRICT, WITHOUT ROWID;
`;
