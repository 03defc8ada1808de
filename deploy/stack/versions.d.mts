export const versions: Readonly<Record<'kafka' | 'neo4j' | 'redis' | 'searxng' | 'searx' | 'chromadb', string>>;
export const images: Readonly<Record<'kafka' | 'redis' | 'neo4j' | 'searxng', string>>;
export const kafkaSettings: Readonly<Record<string, string>>;
export const redisArguments: readonly string[];
