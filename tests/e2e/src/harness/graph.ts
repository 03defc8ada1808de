import { join } from 'node:path';
import Database from 'libsql';
import neo4j from 'neo4j-driver';
import type { System } from '@conclave/test-support/system';

export interface SynthesisRow {
  readonly text: string;
  readonly insightType: string;
  readonly entities: readonly string[];
}

/** `:Synthesis` nodes with this text as they are in the graph, read without the product. */
export async function synthesesOf(system: System, summary: string): Promise<readonly SynthesisRow[]> {
  return system.stack ? fromNeo4j(system.stack, summary) : fromFile(join(system.home, 'conclave.db'), summary);
}

/** Removes the node, and entities that only it mentioned, from the shared graph again. */
export async function forgetSynthesis({ stack }: System, summary: string): Promise<void> {
  if (!stack) return;
  const driver = neo4j.driver(stack.NEO4J_URL, neo4j.auth.basic(stack.NEO4J_USER, stack.NEO4J_PASSWORD));
  try {
    await driver.executeQuery(
      `MATCH (s:Synthesis {text: $summary}) OPTIONAL MATCH (s)-[:RELATED_TO]->(e:Entity)
       WITH s, collect(e) AS entities DETACH DELETE s WITH entities UNWIND entities AS e WITH e WHERE NOT (e)--() DELETE e`,
      { summary },
    );
  } finally {
    await driver.close();
  }
}

/** Removes everything that one system has learned from the shared graph again. */
export async function forgetGraph({ stack, prefix }: System): Promise<void> {
  if (!stack) return;
  const driver = neo4j.driver(stack.NEO4J_URL, neo4j.auth.basic(stack.NEO4J_USER, stack.NEO4J_PASSWORD));
  try {
    await driver.executeQuery('MATCH (n) WHERE n.tenant STARTS WITH $prefix DETACH DELETE n', { prefix });
  } finally {
    await driver.close();
  }
}

async function fromNeo4j(stack: NonNullable<System['stack']>, summary: string): Promise<readonly SynthesisRow[]> {
  const driver = neo4j.driver(stack.NEO4J_URL, neo4j.auth.basic(stack.NEO4J_USER, stack.NEO4J_PASSWORD));
  try {
    const { records } = await driver.executeQuery(
      'MATCH (s:Synthesis) WHERE s.text = $summary OPTIONAL MATCH (s)-[:RELATED_TO]->(e:Entity) RETURN s.text AS text, s.insight_type AS type, collect(e.name) AS entities',
      { summary },
    );
    return records.map((record) => ({
      text: String(record.get('text')),
      insightType: String(record.get('type')),
      entities: (record.get('entities') as string[]).sort(),
    }));
  } finally {
    await driver.close();
  }
}

function fromFile(file: string, summary: string): readonly SynthesisRow[] {
  const database = new Database(file, { readonly: true });
  try {
    const rows = database.prepare('SELECT id, text, insight_type FROM graph_synthesis WHERE text = ?').all(summary) as {
      id: string;
      text: string;
      insight_type: string;
    }[];
    const related = database.prepare(
      'SELECT e.name AS name FROM graph_related AS r JOIN graph_entity AS e ON e.tenant = r.tenant AND e.normal = r.entity WHERE r.synthesis_id = ? ORDER BY e.name',
    );
    return rows.map(({ id, text, insight_type }) => ({
      text,
      insightType: insight_type,
      entities: (related.all(id) as { name: string }[]).map(({ name }) => name),
    }));
  } finally {
    database.close();
  }
}
