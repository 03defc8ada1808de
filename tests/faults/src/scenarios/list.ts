import { cells, killCell, killMatrix } from './kill-matrix.js';
import type { Scenario } from './scenario.js';

/** Every scenario, in the order they run and stand in the guarantees page. */
export const scenarios: readonly Scenario[] = [killMatrix];

/** Scenarios that are parts of others, by name. */
const parts: readonly Scenario[] = cells.map(killCell);

/** Throws with the names there are. */
export function scenarioNamed(name: string): Scenario {
  const found = [...scenarios, ...parts].find((scenario) => scenario.name === name);
  if (!found)
    throw new Error(
      `No scenario is called ${name}. There are: ${scenarios.map((one) => one.name).join(', ')}; and kill:<service>:<point>.`,
    );
  return found;
}
