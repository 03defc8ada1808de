import { childrenKilled } from './children-killed.js';
import { modelStopped, neo4jStopped, searchStopped } from './dependencies.js';
import { diskFull, diskFullLimit } from './disk-full.js';
import { documentsRemoved } from './documents-removed.js';
import { cells, killCell, killMatrix } from './kill-matrix.js';
import { keysChanged } from './keys-changed.js';
import { membersKilled } from './members-killed.js';
import { network, networkHarms } from './network.js';
import { duplicates, mixedVersions, poison } from './records.js';
import { runsDeleted } from './runs-deleted.js';
import type { Scenario } from './scenario.js';
import { brokerKilled, redisFull, redisKilled } from './stores-killed.js';
import { redisOlder, redisReplaced } from './stores-replaced.js';
import { frozenExperts, frozenMerger, killerRecord, lateWork, randomKills, rebalanceStorm, rollingRestart, twoEngines } from './storms.js';
import { modelFaults, slowReader } from './streams.js';
import { tornTail } from './torn-tail.js';

/** Every scenario, in the order of running and of the guarantees page. */
export const scenarios: readonly Scenario[] = [
  killMatrix,
  randomKills,
  membersKilled,
  childrenKilled,
  runsDeleted,
  documentsRemoved,
  keysChanged,
  frozenExperts,
  frozenMerger,
  rebalanceStorm,
  twoEngines,
  rollingRestart,
  killerRecord,
  lateWork,
  duplicates,
  poison,
  mixedVersions,
  slowReader,
  modelFaults,
  brokerKilled,
  redisKilled,
  redisFull,
  redisReplaced,
  redisOlder,
  neo4jStopped,
  searchStopped,
  modelStopped,
  network,
  tornTail,
  diskFull,
];

/** Scenarios that are parts of others, by name. */
const parts: readonly Scenario[] = [...(killMatrix.ciParts ?? []), ...cells.map(killCell), ...networkHarms, diskFullLimit];

/** Throws with the existing names. */
export function scenarioNamed(name: string): Scenario {
  const found = [...scenarios, ...parts].find((scenario) => scenario.name === name);
  if (!found)
    throw new Error(
      `No scenario is called ${name}. There are: ${scenarios.map((one) => one.name).join(', ')}; and kill:<service>:<point>.`,
    );
  return found;
}
