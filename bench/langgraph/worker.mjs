// A worker process of benchmarks B2 and B2b: `worker.mjs sqlite <file> sync|async [shipped]` or `worker.mjs memory '' '' [shipped]`.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MemorySaver } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Database from 'better-sqlite3';
import { answer, committeeSteps, hostRounds, instantModels, question } from '../../dist/langgraph-parts.js';
import { committeeGraph } from './graph.mjs';
import { shippedGraph } from './shipped-graph.mjs';

const [kind, file, given, template] = process.argv.slice(2);
const durability = given || 'async';
const versionOf = (name) =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`node_modules/${name}/package.json`, import.meta.url)), 'utf8')).version;

function openCheckpointer() {
  if (kind === 'memory') return { checkpointer: new MemorySaver(), facts: ['checkpoints in memory, deleted after each run'], close() {} };
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  const synchronous = ['OFF', 'NORMAL', 'FULL', 'EXTRA'][db.pragma('synchronous', { simple: true })];
  const facts = [
    `SQLite: journal_mode ${db.pragma('journal_mode', { simple: true })}, synchronous ${synchronous}, durability "${durability}"`,
    `@langchain/langgraph-checkpoint-sqlite ${versionOf('@langchain/langgraph-checkpoint-sqlite')}, better-sqlite3 ${versionOf('better-sqlite3')}`,
  ];
  return { checkpointer: new SqliteSaver(db), facts, close: () => db.close() };
}

const store = openCheckpointer();
const models = instantModels();
const graph = (template === 'shipped' ? shippedGraph : committeeGraph)(committeeSteps(models), store.checkpointer);
let runs = 0;

hostRounds({
  facts: [`@langchain/langgraph ${versionOf('@langchain/langgraph')}`, ...store.facts],
  async run() {
    const thread = `thread-${(runs += 1)}`;
    const end = await graph.invoke({ question }, { configurable: { thread_id: thread }, durability });
    if (end.answer !== answer) throw new Error(`The run did not end as scripted: ${JSON.stringify(end).slice(0, 500)}`);
    // Threads left in memory would slow down later rounds of this side only.
    if (kind === 'memory') await store.checkpointer.deleteThread(thread);
  },
  calls: () => models.calls(),
  close: async () => store.close(),
});
