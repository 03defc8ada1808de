import { stackEnvironment } from '@conclave/test-support/real-servers';

/** The real Chroma that int specs share: CHROMA_URL, else what `npm run stack -- up --only chroma` started. */
export function realServer(): string {
  const said: Record<string, string | undefined> = { ...stackEnvironment(), ...process.env };
  const { CHROMA_URL: url } = said;
  if (!url) throw new Error('These tests need ChromaDB: run `npm run stack -- up --only chroma`, or set CHROMA_URL.');
  return url;
}
