import type { Mode } from '@conclave/contracts';
import type { Bounds, CheckName } from '../evidence/evidence.js';
import type { ProtectionName } from '../programs/protections.js';
import type { SystemRequirements } from '../world/servers.js';
import type { World } from '../world/world.js';

/** A protection that can be switched off, and the check that must fail then. */
export interface Control {
  /** Name as in WITHOUT_PROTECTION. */
  readonly without: ProtectionName;
  /** The check that must find something, with ids. */
  readonly check: CheckName;
  /** Modes in which it is tried; those of the scenario if absent. */
  readonly modes?: readonly Mode[];
  /** The scenario that is run for it, if that is a part of this one: a cell of the kill matrix. */
  readonly part?: string;
  /** False if CI has no time for it; `--controls` runs all. */
  readonly ci?: false;
}

/** One fault, with the promise against which it is tried. The guarantees page is printed from these. */
export interface Scenario {
  /** Name for the command line, such as `broker-killed`. */
  readonly name: string;
  /** The promise, one sentence for people. */
  readonly promise: string;
  /** The fault, one sentence. */
  readonly fault: string;
  readonly modes: readonly Mode[];
  readonly controls: readonly Control[];
  readonly bounds?: Partial<Bounds>;
  /** Seconds it takes at most, everything included; after that a watchdog ends it as failed. */
  readonly limitS: number;
  /** Modes in which CI runs it: embedded mode starts sooner, and CI has half an hour for everything. */
  readonly ci: readonly Mode[];
  /** Parts that CI runs in its place, side by side in separate systems. */
  readonly ciParts?: readonly Scenario[];
  /** How the system is started. */
  readonly system?: SystemRequirements;
  /** Starts load and causes faults. Whatever the checker does not assert afterwards is asserted here, by throwing. */
  run(world: World): Promise<void>;
}
