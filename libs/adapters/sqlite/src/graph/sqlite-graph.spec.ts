import { describeKnowledgeGraph } from '@conclave/ports/suites';
import { Database } from '../database/database.js';
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
