import type { Mode } from '@conclave/contracts';
import type { Bounds, CheckName } from '../evidence/evidence.js';
import type { ProtectionName } from '../programs/protections.js';
import type { SystemRequirements } from '../world/servers.js';
import type { World } from '../world/world.js';

/** A protection that can be switched off, and what must turn red then. */
export interface Control {
  /** Name as WITHOUT_PROTECTION takes it. */
  readonly without: ProtectionName;
  /** The check that must find something, with ids. */
  readonly check: CheckName;
  /** Modes it is tried in; those of the scenario if absent. */
  readonly modes?: readonly Mode[];
  /** Scenario that is run for it, where that is a part of this one: a cell of the kill matrix. */
  readonly part?: string;
  /** False where CI has no time for it; `--controls` takes all. */
  readonly ci?: false;
}

/** One fault, with the promise that it is tried against. The guarantees page is printed from these. */
export interface Scenario {
  /** Name for the command line, such as `broker-killed`. */
  readonly name: string;
  /** What is promised, one sentence for people. */
  readonly promise: string;
  /** What is done to the system, one sentence. */
  readonly fault: string;
  readonly modes: readonly Mode[];
  readonly controls: readonly Control[];
  readonly bounds?: Partial<Bounds>;
  /** Seconds it takes at most, everything included; a watchdog ends it then as failed. */
  readonly limitS: number;
  /** Modes CI runs it in: embedded mode starts sooner, and CI has half an hour for everything. */
  readonly ci: readonly Mode[];
  /** Parts that CI runs in its place, side by side in systems of their own. */
  readonly ciParts?: readonly Scenario[];
  /** How the system is started. */
  readonly system?: SystemRequirements;
  /** Starts load and does harm. Whatever is not asserted by the checker afterwards is asserted here, by throwing. */
  run(world: World): Promise<void>;
}
