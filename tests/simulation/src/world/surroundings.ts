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
import type { Acceptance, Commands, Documents, FeedbackController, RunsController, StreamHub } from '@conclave/service-gateway';
import type { Random } from '../faults/random.js';
import type { StormPlan } from '../faults/storm-plan.js';
import type { Observations } from './observations.js';
import type { Exposed, Storm } from './storm.js';

/** The view of a world for its parts and its checks. */
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
  /** `<topic> <event id>` of everything on the log. */
  readonly logged: ReadonlySet<string>;
  readonly newRunId: () => string;
  readonly appended: (records: readonly EncodedRecord[]) => void;
  trace(process: string, what: string): void;
  /** Accepted runs that have not ended. */
  openRuns(): number;
  /** Provider slots in use. */
  heldPlaces(): readonly string[];
  /** Whether a death at this moment leaves work to take over. */
  busy(): boolean;
  /** Records that groups have not finished, as `<group> <topic>: <n>`. */
  lag(): readonly string[];
  dispatch(): void;
  /** Schedules an action in `ms` milliseconds; the world is not quiet before it has run. */
  later(ms: number, act: () => void): void;
  /** Counts an action of a client as work in flight until it has ended; the world is not quiet before. */
  during<T>(act: () => Promise<T>): Promise<T>;
  /** Starts a process again, as a supervisor does after its end. */
  restart(process: LivingProcess): void;
  someGateway(random: Random): Promise<LivingProcess>;
}

/** The view of a process for the other parts. */
export interface LivingProcess extends Exposed {
  readonly world: Surroundings;
  readonly state: StateStore;
  readonly log: EventLog;
  /** Port calls in progress. */
  inFlight: number;
  readonly gateway: SimulatedGateway | null;
  /**
   * Called when a model or tool call of this process begins. Returns its run, or null for a further request of the same call, and a function
   * to call when the other side has received it, from which moment it is paid; that function returns one to call when it ends.
   */
  callMade(): { readonly runId: string | null; readonly reached: () => () => void };
  /** Resolves when the process has ended. */
  gone(): Promise<void>;
}

/** What clients call on a gateway. */
export interface SimulatedGateway {
  readonly acceptance: Acceptance;
  readonly commands: Commands;
  readonly hub: StreamHub;
  readonly documents: Documents;
  readonly runs: RunsController;
  readonly feedback: FeedbackController;
}

/** The random numbers and counters of the models and the search of a world. */
export interface ModelWorld {
  readonly random: Random;
  /** Number of calls so far; no two replies are the same, so a repeat can be distinguished from its first try. */
  calls: number;
}

/** Called for every call that had its effect, at that moment. */
export type Observe = (process: LivingProcess, point: string, args: readonly unknown[], result: unknown) => void;

/** Places where a faulty part can be planted in a simulated system. */
export interface Planted {
  /** Changes the shared stores before they are used. */
  stores?(stores: MemoryStores): void;
  /** Changes the store adapter of a process, below the faults. */
  state?(state: StateStore): StateStore;
  /** Changes a subscription before the log gets it. */
  subscription?(subscription: Subscription, process: LivingProcess): Subscription;
  /** The log acknowledges events before it has them. */
  readonly acknowledgesEarly?: boolean;
  /** A tool as its server describes it. */
  tool?(tool: ToolDescription): ToolDescription;
  /** Changes the vectors before they are used. */
  vectors?(store: MemoryVectorStore): void;
  /** Classes of the services and their replacements. */
  readonly replaced?: ReadonlyMap<unknown, unknown>;
}
