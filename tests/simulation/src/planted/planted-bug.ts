import type { CheckName } from '../checks/check.js';
import type { Planted } from '../world/surroundings.js';

/** A plausible bug, and the check that must find it. */
export interface PlantedBug {
  readonly name: string;
  /** What is wrong, in one sentence. */
  readonly sentence: string;
  readonly check: CheckName;
  readonly plant: () => Planted;
}
