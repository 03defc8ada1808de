/** Folder with all jars of the server, fetched by Maven on first use. */
export function jarsOf(name: 'kafka' | 'neo4j'): Promise<string>;
