// Records one event of each type and shape from a data folder into the corpus that today's schemas must still be able to read: node
// tools/run.mjs record-events <data folder> > libs/contracts/src/__fixtures__/events/<date>.ndjson The embedded server of that folder must
// be stopped.
import { openSqlite } from '../../../libs/adapters/sqlite/src/index.ts';
import { topicsFor } from '../../../libs/contracts/src/index.ts';

const home = process.argv[2];
if (!home) {
  console.error('Usage: node tools/run.mjs record-events <data folder>');
  process.exit(2);
}
const store = openSqlite({ home, processId: 'recorder', durability: 'process' });
const seen = new Set();
/** Members that a request has only if it needs them. */
const optional = ['attachments', 'skill', 'cached', 'plan'];
/** Members that distinguish the shapes of one type. */
const shapeOf = ({ type, data }) =>
  [
    type,
    data.input?.kind,
    data.input?.type,
    data.output?.kind,
    data.status,
    data.command?.name,
    data.outcome,
    data.name?.split(':')[0],
    data.template?.strategy,
    data.strategy,
    ...(type === 'PlanRequested' ? optional.filter((member) => data[member]) : []),
  ]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' ');
for (const { name } of topicsFor()) {
  for await (const { headers, raw, event } of store.log.read(name)) {
    if (!event || seen.has(shapeOf(event))) continue;
    seen.add(shapeOf(event));
    console.log(JSON.stringify({ shape: shapeOf(event), headers, body: raw.toString('utf8') }));
  }
}
await store.close();
console.error(`${seen.size} shapes`);
