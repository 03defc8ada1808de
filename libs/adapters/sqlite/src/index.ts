export { openSqlite, type Sqlite, type SqliteConnection, type SqliteOptions } from './open-sqlite.js';
export type { StoreLogger } from './database/database.js';
export { CorpusSearch, type CorpusOptions } from './search/corpus-search.js';
export { embeddedTtl } from './housekeeping.js';
