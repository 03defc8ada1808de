/**
 * Tables of typed relations, their provenance, ratings and contradictions, and the words by which entities are found. Every key
 * begins with the tenant. Entities of an older folder have no words: only their full name finds them until they are written again.
 */
export const graphSchema = `
ALTER TABLE graph_entity ADD COLUMN id TEXT NOT NULL DEFAULT '';
ALTER TABLE graph_entity ADD COLUMN type TEXT NOT NULL DEFAULT '';
ALTER TABLE graph_entity ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
ALTER TABLE graph_synthesis ADD COLUMN good INTEGER NOT NULL DEFAULT 0;
ALTER TABLE graph_synthesis ADD COLUMN bad INTEGER NOT NULL DEFAULT 0;

CREATE TABLE graph_term (
  tenant TEXT NOT NULL,
  term TEXT NOT NULL,
  entity TEXT NOT NULL,
  exact INTEGER NOT NULL,
  PRIMARY KEY (tenant, term, entity, exact)
) STRICT, WITHOUT ROWID;

CREATE TABLE graph_relation (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  subject TEXT NOT NULL,
  relation TEXT NOT NULL,
  object TEXT NOT NULL,
  confidence REAL NOT NULL,
  doubt REAL NOT NULL,
  good INTEGER NOT NULL,
  bad INTEGER NOT NULL,
  trust REAL NOT NULL,
  flagged INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  superseded INTEGER NOT NULL,
  source TEXT NOT NULL,
  domain TEXT NOT NULL,
  run_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_relation_from ON graph_relation (tenant, subject, flagged, trust DESC, id);
CREATE INDEX graph_relation_to ON graph_relation (tenant, object, flagged, trust DESC, id);

CREATE TABLE graph_taught (
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  relation_id TEXT NOT NULL,
  PRIMARY KEY (tenant, run_id, relation_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE graph_event (
  tenant TEXT NOT NULL,
  event_id TEXT NOT NULL,
  result TEXT NOT NULL,
  PRIMARY KEY (tenant, event_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE graph_rating (
  tenant TEXT NOT NULL,
  event_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  positive INTEGER NOT NULL,
  PRIMARY KEY (tenant, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_rating_of ON graph_rating (tenant, run_id);

CREATE TABLE graph_quarantine (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  at INTEGER NOT NULL,
  entry TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_quarantine_state ON graph_quarantine (tenant, state, at DESC, id);
`;

/** Provenance of a synthesis. Runs of an older folder have only their id. */
export const originSchema = `
ALTER TABLE graph_synthesis_run ADD COLUMN at INTEGER;
ALTER TABLE graph_synthesis_run ADD COLUMN answer TEXT;
ALTER TABLE graph_synthesis_run ADD COLUMN sources TEXT;
`;
