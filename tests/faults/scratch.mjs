import { World } from './dist/world/world.js';
import { collect } from './dist/world/collect.js';
import { scenarioNamed } from './dist/scenarios/list.js';
const s = scenarioNamed(process.argv[2]);
const w = await World.start(process.argv[3], s.system ?? {}, null, true);
try { await s.run(w); } catch (e) { console.log('ERR', e); }
console.table(w.rows);
try { const e = await collect(w, s.name, 15000);
console.log(Object.fromEntries(Object.entries(e).map(([k,v])=>[k,Array.isArray(v)?v.length:v])), e.lag, e.memory, e.closings, e.deaths.length); } catch (e) { console.log('COLLECT', e); }
await w.stop();
