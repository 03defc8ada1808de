import type { Mode } from '@conclave/contracts';
import type { Bounds, CheckName, Evidence } from '../evidence/evidence.js';
import type { ProtectionName } from '../programs/protections.js';
import type { SystemRequirements } from '../world/servers.js';
import type { World } from '../world/world.js';

/** A protection that can be switched off, and the check that must fail then. */
export interface Control {
  /** Name as in WITHOUT_PROTECTION. */
  readonly without: ProtectionName;
  /** The check that must find something, with ids. */
  readonly check: CheckName;
  /** A part of the sentence that it must find, if the check can also find what the fault alone causes. */
  readonly says?: string;
  /** Modes in which it is tried; those of the scenario if absent. */
  readonly modes?: readonly Mode[];
  /** The scenario that is run for it, if that is a part of this one: a cell of the kill matrix. */
  readonly part?: string;
  /** False if CI has no time for it; `--controls` runs all. */
  readonly ci?: false;
}

/** Looks at the system once nothing is left to do. What it finds is evidence. */
export type Afterwards = () => Promise<Pick<Evidence, 'deleted' | 'told'>>;

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
  /** If there is no control: why none makes sense, as a sentence for the guarantees page. */
  readonly uncontrolled?: string;
  readonly bounds?: Partial<Bounds>;
  /** Seconds it takes at most on a quiet machine, everything included; after three times as long a watchdog ends it as failed. */
  readonly limitS: number;
  /** Modes in which CI runs it: embedded mode starts sooner, and CI has half an hour for everything. */
  readonly ci: readonly Mode[];
  /** Parts that CI runs in its place, side by side in separate systems. */
  readonly ciParts?: readonly Scenario[];
  /** How the system is started. */
  readonly system?: SystemRequirements;
  /** Starts load and causes faults. Whatever the checker does not assert afterwards is asserted here, by throwing. */
  run(world: World): Promise<void | Afterwards>;
}
