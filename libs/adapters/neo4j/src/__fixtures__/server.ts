import { stackEnvironment } from '@conclave/test-support/real-servers';

/** The real Neo4j that int specs share: NEO4J_URL, else what `npm run stack -- up` started. */
export function realServer(): { readonly url: string; readonly user: string; readonly password: string } {
  const said: Record<string, string | undefined> = { ...stackEnvironment(), ...process.env };
  const { NEO4J_URL: url, NEO4J_USER: user = 'neo4j', NEO4J_PASSWORD: password } = said;
  if (!url || !password)
    throw new Error('These tests need Neo4j: run `npm run stack -- up`, or set NEO4J_URL, NEO4J_USER and NEO4J_PASSWORD.');
  return { url, user, password };
}
