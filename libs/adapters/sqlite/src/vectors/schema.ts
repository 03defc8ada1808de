/**
 * Vectors lie as 32-bit floats, lowest byte first, as SQLite's `vector_distance_cos` of libSQL reads them. `vector_field` holds each
 * metadata value as JSON, so that 1, "1" and true differ; it answers which records carry a value and which keys exist at all.
 * `vector_collection.n` never repeats (AUTOINCREMENT): nothing of a dropped collection can show up in a later one.
 */
export const vectorSchema = `
CREATE TABLE vector_collection (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  UNIQUE (tenant, name)
) STRICT;
CREATE TABLE vector_record (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  collection INTEGER NOT NULL,
  id TEXT NOT NULL,
  vector BLOB NOT NULL,
  text TEXT NOT NULL,
  metadata TEXT NOT NULL,
  UNIQUE (collection, id)
) STRICT;
CREATE TABLE vector_field (
  collection INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (collection, key, value, record)
) STRICT, WITHOUT ROWID;
CREATE INDEX vector_field_of ON vector_field (record);
`;
