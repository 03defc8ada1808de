export { Neo4jGraph } from './neo4j-graph.js';
export type { Neo4jGraphOptions } from './connection.js';
