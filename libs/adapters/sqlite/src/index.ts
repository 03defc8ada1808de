export { openSqlite, type Sqlite, type SqliteConnection, type SqliteOptions } from './open-sqlite.js';
export { hasLogAlone } from './database/data-files.js';
export { copyDatabase, holdingFolder, inspectDatabase, type InspectedDatabase } from './database/copy-database.js';
export type { StoreLogger } from './database/database.js';
export type { StoreCounter } from './database/store-counter.js';
export { CorpusSearch, type CorpusOptions } from './search/corpus-search.js';
export { embeddedTtl } from './housekeeping.js';
