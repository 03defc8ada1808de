import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { keptText } from '@conclave/test-support/system';
import Database from 'libsql';
import neo4j from 'neo4j-driver';
import type { World } from './world.js';

/** What one store keeps, as text. */
export interface StoredText {
  /** As it appears in a sentence. */
  readonly place: string;
  readonly text: string;
}

/** Every store with its whole content, read without the product while the product runs. */
export async function storedTexts({ system }: World): Promise<readonly StoredText[]> {
  const { stack, prefix, home } = system;
  if (!stack) return [...tablesOf(join(home, 'conclave.db')), ...filesOf(home)];
  return [
    { place: 'the log or the state store', text: await keptText(system) },
    { place: 'the knowledge graph', text: await graphText(stack) },
    ...(stack.CHROMA_URL ? [{ place: 'the vectors', text: await vectorText(stack.CHROMA_URL, prefix) }] : []),
  ];
}

/** Every table with its values: a word in a file does not say whether it is in a row, or in a page that is free. */
function tablesOf(file: string): readonly StoredText[] {
  const database = new Database(file, { readonly: true });
  const all = (text: string): readonly Record<string, unknown>[] => database.prepare(text).all() as Record<string, unknown>[];
  try {
    return all("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => ({
      place: `the table ${String(name)}`,
      text: all(`SELECT * FROM ${String(name)}`)
        .map((row) => Object.values(row).map(textOf).join(' '))
        .join('\n'),
    }));
  } finally {
    database.close();
  }
}

/** Bytes are text, or text that was deflated. */
function textOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value);
  try {
    return inflateRawSync(value).toString();
  } catch {
    return Buffer.from(value).toString('latin1');
  }
}

const filesOf = (home: string): readonly StoredText[] =>
  (readdirSync(home, { recursive: true }) as string[])
    .filter((name) => statSync(join(home, name)).isFile())
    .map((name) => ({ place: `the file ${name}`, text: readFileSync(join(home, name), 'latin1') }));

/** Every property of the graph at this address. */
export async function graphText({
  NEO4J_URL = '',
  NEO4J_USER = '',
  NEO4J_PASSWORD = '',
}: Partial<NonNullable<World['system']['stack']>>): Promise<string> {
  const driver = neo4j.driver(NEO4J_URL, neo4j.auth.basic(NEO4J_USER, NEO4J_PASSWORD));
  try {
    // Other systems share the server; the words of a question tell them apart.
    const { records } = await driver.executeQuery(
      'MATCH (n) RETURN properties(n) AS of UNION ALL MATCH ()-[r]->() RETURN properties(r) AS of',
    );
    return JSON.stringify(records.map((record) => record.get('of') as object));
  } finally {
    await driver.close();
  }
}

async function vectorText(url: string, namespace: string): Promise<string> {
  const collections = `${url}/api/v2/tenants/default_tenant/databases/default_database/collections`;
  const all = (await (await fetch(`${collections}?limit=1000`)).json()) as {
    readonly id: string;
    readonly metadata: { readonly conclave?: unknown } | null;
  }[];
  const texts = all
    .filter(({ metadata }) => metadata?.conclave === namespace)
    .map(async ({ id }) => {
      const response = await fetch(`${collections}/${id}/get`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ include: ['documents', 'metadatas'], limit: 10_000 }),
      });
      if (!response.ok) throw new Error(`The vectors of ${id} cannot be read: ${response.status}`);
      return response.text();
    });
  return (await Promise.all(texts)).join('\n');
}
