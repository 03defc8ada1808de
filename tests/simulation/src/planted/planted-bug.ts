import type { MemoryStores, StateStore, Subscription } from '@conclave/ports';
import type { CheckName } from '../checks/check.js';
import type { SimulatedProcess } from '../world/simulated-process.js';

/** Places where a faulty part can be put into a simulated system. */
export interface Planted {
  /** Changes the shared stores before anybody uses them. */
  stores?(stores: MemoryStores): void;
  /** The store's adapter as a process has it, below the faults. */
  state?(state: StateStore): StateStore;
  /** A subscription before the log gets it. */
  subscription?(subscription: Subscription, process: SimulatedProcess): Subscription;
  /** The log says that it has events before it has them. */
  readonly acknowledgesEarly?: boolean;
  /** Classes of the services and what stands in their place. */
  readonly replaced?: ReadonlyMap<unknown, unknown>;
}

/** A bug that could have been written, and the check that has to find it. */
export interface PlantedBug {
  readonly name: string;
  /** What is wrong, in one sentence. */
  readonly sentence: string;
  readonly check: CheckName;
  readonly plant: () => Planted;
}
