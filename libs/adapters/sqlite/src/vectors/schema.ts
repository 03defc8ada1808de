/**
 * Vectors are stored as little-endian 32-bit floats, as libSQL's `vector_distance_cos` reads them. `vector_field` has each metadata
 * value as JSON, so that 1, "1" and true differ; it records which records have a value and which keys exist at all.
 * `vector_collection.n` never repeats (AUTOINCREMENT): records of a dropped collection cannot appear in a later one.
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

/**
 * Full-text index of the same records, by their numbers. It stores no texts (`content=''`). One table serves all collections, so the
 * rarity of a word is counted over all of them.
 */
export const textSchema = `
CREATE VIRTUAL TABLE vector_text USING fts5 (
  title, heading, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO vector_text (rowid, title, heading, body)
  SELECT n, COALESCE(json_extract(metadata, '$.title'), ''), COALESCE(json_extract(metadata, '$.heading'), ''), json_extract(text, '$')
  FROM vector_record;
`;
