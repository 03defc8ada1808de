export const versions: Readonly<
  Record<'kafka' | 'neo4j' | 'redis' | 'searxng' | 'searx' | 'chromadb' | 'chromaServer' | 'openWebui' | 'node', string>
>;
export const images: Readonly<Record<'kafka' | 'redis' | 'neo4j' | 'searxng' | 'chroma' | 'open-webui', string>>;
export const kafkaSettings: Readonly<Record<string, string>>;
export const redisArguments: readonly string[];
