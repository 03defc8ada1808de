export { Neo4jGraph, type Neo4jGraphOptions } from './neo4j-graph.js';
