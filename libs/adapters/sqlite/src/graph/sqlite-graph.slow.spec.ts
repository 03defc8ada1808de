import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { describeKnowledgeGraph } from '@conclave/ports/suites';
import { newFolder, removeFolder } from '../__fixtures__/folder.js';
import { Database } from '../database/database.js';
import { firstSchema } from '../database/schema.js';
import { SqliteGraph } from './sqlite-graph.js';

describeKnowledgeGraph('SQLite', {
  async open() {
    const database = Database.open({ home: ':memory:', durability: 'process', now: Date.now });
    return {
      graph: new SqliteGraph(database),
      another: async () => new SqliteGraph(database),
      dispose: () => database.close(),
    };
  },
});

describe('the graph of an older folder', () => {
  it('keeps what it learned, finds it by name, and finds it by words after it was written again', async () => {
    const root = newFolder();
    const options = { home: join(root, 'home'), durability: 'process', now: Date.now } as const;
    try {
      const old = Database.open({ ...options, migrations: [{ version: 1, sql: firstSchema }] });
      await old.write(({ sql }) => {
        sql.run(`INSERT INTO graph_synthesis VALUES ('acme', 'abc', 'Copper wire conducts.', 'synthesis', 'general', 0.9, 5)`);
        sql.run(`INSERT INTO graph_synthesis_run VALUES ('acme', 'run_00000001', 'abc')`);
        sql.run(`INSERT INTO graph_entity VALUES ('acme', 'copper wire', 'Copper wire')`);
        sql.run(`INSERT INTO graph_related VALUES ('acme', 'copper wire', 'abc')`);
      });
      await old.close();
      const database = Database.open(options);
      const graph = new SqliteGraph(database);
      const texts = async (term: string) =>
        (await graph.retrieve({ tenant: 'acme', terms: [term], categories: [], limit: 5, maxCharacters: 1_000 })).syntheses.map(
          ({ text }) => text,
        );
      expect(await texts('Copper Wire')).toEqual(['Copper wire conducts.']);
      expect(await texts('wires')).toEqual([]);
      const triple = {
        subject: 'Copper wire',
        subjectType: 'thing',
        relation: 'USES',
        object: 'Copper',
        objectType: '',
        confidence: 1,
      } as const;
      await graph.addTriples({ tenant: 'acme', eventId: 'e', runId: 'r', source: 'answer', triples: [triple], domain: 'd', at: 1 });
      expect(await texts('wires')).toEqual(['Copper wire conducts.']);
      await graph.adjustTrust({ tenant: 'acme', runId: 'run_00000001', eventId: 'bad', positive: false });
      expect(await texts('wires')).toEqual([]);
      await database.close();
    } finally {
      removeFolder(root);
    }
  });
});
