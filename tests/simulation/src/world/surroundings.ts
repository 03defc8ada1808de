import type { Template } from '@conclave/contracts';
import type {
  Blobs,
  Clock,
  EncodedRecord,
  EventLog,
  MemoryBroker,
  MemoryGraphStore,
  MemoryStores,
  MemoryVectorStore,
  StateStore,
  Subscription,
  ToolDescription,
} from '@conclave/ports';
import type { Acceptance, Commands, Documents, StreamHub } from '@conclave/service-gateway';
import type { Random } from '../faults/random.js';
import type { StormPlan } from '../faults/storm-plan.js';
import type { Observations } from './observations.js';
import type { Exposed, Storm } from './storm.js';

/** What the parts of a world, and the checks of it, see of the whole. */
export interface Surroundings {
  readonly plan: StormPlan;
  readonly observations: Observations;
  readonly clock: Clock;
  readonly stores: MemoryStores;
  readonly broker: MemoryBroker;
  readonly blobs: Blobs;
  readonly graphStore: MemoryGraphStore;
  readonly vectorStore: MemoryVectorStore;
  readonly storm: Storm;
  readonly models: ModelWorld;
  readonly planted: Planted;
  readonly templates: { readonly committee: Template; readonly waves: Template; readonly tree: Template };
  readonly observe: Observe;
  /** `<topic> <event id>` of everything the log holds. */
  readonly logged: ReadonlySet<string>;
  readonly newRunId: () => string;
  readonly appended: (records: readonly EncodedRecord[]) => void;
  trace(process: string, what: string): void;
  /** Accepted runs that have not ended. */
  openRuns(): number;
  /** Places at providers that are taken. */
  heldPlaces(): readonly string[];
  /** Whether a death now leaves something to take over. */
  busy(): boolean;
  /** Records that groups have not finished, as `<group> <topic>: <n>`. */
  lag(): readonly string[];
  dispatch(): void;
  /** Something the weather does after a while; the world is not quiet before. */
  later(ms: number, act: () => void): void;
  /** What a supervisor does for a process that is gone. */
  restart(process: LivingProcess): void;
  someGateway(random: Random): Promise<LivingProcess>;
}

/** What the others see of a process. */
export interface LivingProcess extends Exposed {
  readonly world: Surroundings;
  readonly state: StateStore;
  readonly log: EventLog;
  /** Calls to ports under way. */
  inFlight: number;
  readonly gateway: SimulatedGateway | null;
  /**
   * A model or tool call of this process begins. Returns a function to call when the other side has received it, from when on it is paid,
   * which returns a function to call when it ends.
   */
  callMade(): () => () => void;
  /** Resolves when the process is gone. */
  gone(): Promise<void>;
}

/** What clients call on a gateway. */
export interface SimulatedGateway {
  readonly acceptance: Acceptance;
  readonly commands: Commands;
  readonly hub: StreamHub;
  readonly documents: Documents;
}

/** Where a world's models and search get their numbers and leave their traces. */
export interface ModelWorld {
  readonly random: Random;
  /** Calls so far; no two replies are the same, so a repeat can be distinguished from its first try. */
  calls: number;
}

/** Told of every call that had its effect, at the moment it had it. */
export type Observe = (process: LivingProcess, point: string, args: readonly unknown[], result: unknown) => void;

/** Places where a faulty part can be put into a simulated system. */
export interface Planted {
  /** Changes the shared stores before anybody uses them. */
  stores?(stores: MemoryStores): void;
  /** The store's adapter as a process has it, below the faults. */
  state?(state: StateStore): StateStore;
  /** A subscription before the log gets it. */
  subscription?(subscription: Subscription, process: LivingProcess): Subscription;
  /** The log says that it has events before it has them. */
  readonly acknowledgesEarly?: boolean;
  /** A tool as its server describes it. */
  tool?(tool: ToolDescription): ToolDescription;
  /** Changes the vectors before anybody uses them. */
  vectors?(store: MemoryVectorStore): void;
  /** Classes of the services and their replacements. */
  readonly replaced?: ReadonlyMap<unknown, unknown>;
}
