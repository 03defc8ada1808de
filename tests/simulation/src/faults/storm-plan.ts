import type { CrashPoint, CrashTarget, Need } from './crash-points.js';
import { drawFeatures, type Features } from './features.js';
import { randomFrom, type Random } from './random.js';

export type StoreKind = 'state' | 'log' | 'blobs' | 'graph' | 'models' | 'search' | 'vectors' | 'tools' | 'embedder' | 'inside';

/**
 * What a seed decides in advance. Probabilities are per port call unless stated otherwise; times are in milliseconds from the beginning.
 */
export interface StormPlan {
  readonly target: CrashTarget | null;
  readonly endsAt: number;
  readonly crash: number;
  readonly delay: number;
  readonly longestDelayMs: number;
  /** A single call that fails, before or after its effect, although the store is available. */
  readonly hiccup: number;
  readonly outages: readonly {
    readonly store: StoreKind;
    readonly from: number;
    readonly to: number;
    readonly process: string | null;
    /** Share of the calls that fail. */ readonly share: number;
  }[];
  readonly freezes: readonly { readonly process: string; readonly at: number; readonly forMs: number }[];
  readonly rebalances: readonly { readonly process: string; readonly at: number }[];
  readonly restarts: readonly { readonly process: string; readonly at: number }[];
  /** Killed without warning, at no chosen point. */
  readonly kills: readonly { readonly process: string; readonly at: number }[];
  /** A point at which processes die so often: while they hold the same record, or when a client has left. */
  readonly deadly: (CrashPoint & { readonly deaths: number }) | null;
  /** A supervisor starts a process again within this many milliseconds. */
  readonly restartMs: number;
  /** Per published event. */
  readonly duplicate: number;
  /** Per batch: its order is changed. Per delivery: it is held back. */
  readonly reorder: number;
  /** Per hint. */
  readonly hintLoss: number;
  readonly poison: readonly number[];
  /** Per model call. */
  readonly modelFault: number;
  readonly stall: number;
  readonly handlerFault: number;
  readonly modelSlots: number;
  readonly clients: number;
  readonly largeQuestion: boolean;
  readonly rounds: number;
  readonly gapCheck: 'answer' | 'evidence';
  readonly twins: boolean;
  /** With `twins`: whether all clients use one Idempotency-Key and start at the same moment; otherwise each starts at its own time without one. */
  readonly sameKey: boolean;
  /** For each client: whether it pauses its run, and resumes it some time later. */
  readonly pauses: number;
  readonly features: Features;
  /** Documents that are uploaded. */
  readonly uploads: number;
  /** For each client: whether it cancels or leaves, and whether it asks again before its first request is answered. */
  readonly cancels: number;
  readonly impatient: number;
  readonly closes: boolean;
  /** Whether a second client belongs to another tenant, and someone of the other tenant tries what owners do. */
  readonly tenants: boolean;
  /** For each client: whether its run is rated, whether it is deleted, and whether that is tried while it is open. */
  readonly rates: number;
  readonly deletes: number;
  readonly deletesEarly: number;
  /** Commands for child runs, by each client. */
  readonly directs: number;
  /** Whether the log blanks the records of a deleted run; otherwise they stay. */
  readonly logForgets: boolean;
}

/** Slots of processes; every process that occupies a slot has a new id. */
export const processSlots = [
  'gateway-1',
  'gateway-2',
  'planner-1',
  'experts-1',
  'experts-2',
  'merger-1',
  'merger-2',
  'graph-ingest-1',
] as const;

/** Each seed uses some kinds of faults and leaves out others, so that no kind hides behind another. */
export function planStorm(seed: number, target: CrashTarget | null): StormPlan {
  const random = randomFrom(seed).fork('plan');
  const need = target?.need ?? null;
  const some = (probability: number, value: () => number): number => (random.chance(probability) ? value() : 0);
  const endsAt = random.between(4_000, 14_000);
  const times = (most: number, probability: number): number[] =>
    random.chance(probability) ? Array.from({ length: random.between(1, most) }, () => random.below(endsAt)) : [];
  return {
    target,
    endsAt,
    crash: some(0.5, () => random.next() * 0.004),
    delay: need === 'retry' ? 0.5 : some(0.9, () => 0.05 + random.next() * 0.3),
    longestDelayMs: need === 'retry' ? 600 : random.pick([5, 30, 150, 600]),
    hiccup: some(0.35, () => random.next() * 0.01) + (need === 'outage' ? 0.08 : 0),
    outages: times(2, need === 'outage' ? 1 : 0.3).map((from) => planOutage(random, from)),
    freezes: times(2, 0.25).map(() => ({
      process: random.pick(processSlots.slice(2)),
      at: random.between(500, 5_000),
      forMs: random.pick([random.between(1_000, 9_000), random.between(11_000, 18_000)]),
    })),
    rebalances:
      target && need === 'rebalance'
        ? [700, 1_200, 1_700, 2_200, 2_700].flatMap((at) =>
            slotsOf(target.service).map((process) => ({ process, at: at + random.below(500) })),
          )
        : times(4, 0.3).map((at) => ({ process: random.pick(processSlots.slice(2)), at })),
    restarts:
      target && need === 'stop'
        ? slotsOf(target.service).map((process) => ({ process, at: random.between(500, 2_000) }))
        : times(3, 0.2).map((at) => ({ process: random.pick(processSlots), at })),
    kills: killed(target, need).map((process) => ({ process, at: need === 'stall' ? random.below(600) : random.between(700, 2_000) })),
    restartMs: need === 'stall' ? 25_000 : need === 'restart' || need === 'deadly' || need === 'suspect' ? 1_000 : 6_000,
    deadly: target && deadlyFor(target.service, need),
    duplicate: some(0.4, () => random.next() * 0.15),
    reorder: need === 'early' ? 0.6 : some(0.4, () => random.next() * 0.3),
    hintLoss: some(0.3, () => random.next()),
    poison: need === 'poison' ? [random.between(1_000, 3_000)] : times(2, 0.06),
    modelFault: some(0.4, () => random.next() * 0.2) + (need === 'sick' ? 0.3 : 0),
    stall: some(0.25, () => random.next() * 0.3) + (need === 'stall' || need === 'suspect' ? 0.3 : need === 'parked' ? 0.6 : 0),
    handlerFault: some(0.1, () => 0.1) + (need === 'bug' ? 0.5 : 0),
    modelSlots: random.pick([1, 2, 4]),
    clients: target?.service === 'graph-ingest' || target?.service === 'gateway' || need === 'restart' ? 2 : random.pick([1, 1, 1, 2]),
    largeQuestion: need === 'large' || random.chance(0.01),
    rounds: random.pick([0, 0, 1]),
    gapCheck: random.pick(['evidence', 'evidence', 'answer'] as const),
    twins: random.chance(0.15) || need === 'knowledge',
    sameKey: random.chance(0.5),
    pauses: random.chance(0.15) ? 0.7 : 0,
    features: drawFeatures(randomFrom(seed).fork('features'), need),
    uploads: randomFrom(seed).fork('uploads').between(1, 2),
    cancels: need === 'cancel' || need === 'early' || need === 'parked' ? 1 : some(0.2, () => 0.7),
    impatient: need === 'retry' ? 1 : some(0.15, () => 0.5),
    closes: random.chance(0.1) || need === 'stop',
    ...planOwners(randomFrom(seed).fork('owners'), need),
  };
}

function planOwners(
  random: Random,
  need: Need | null,
): Pick<StormPlan, 'tenants' | 'rates' | 'deletes' | 'deletesEarly' | 'directs' | 'logForgets'> {
  const [deletes, rates, logForgets] = [random.chance(0.2), random.chance(0.2), random.chance(0.5)];
  return {
    // A crash point that needs two equal questions needs them from one tenant.
    tenants: random.chance(need === 'deletion' || need === 'rating' ? 0.4 : 0.15) && need !== 'knowledge' && need !== 'retry',
    rates: need === 'rating' ? 1 : rates ? 0.7 : 0,
    deletes: need === 'deletion' ? 1 : deletes ? 0.7 : 0,
    deletesEarly: 0.3,
    directs: need === 'children' || random.chance(0.8) ? random.between(1, 3) : 0,
    logForgets,
  };
}

/** Processes that are killed so that they restart, or so that timers become due while no process runs. */
const killed = (target: CrashTarget | null, need: Need | null): readonly string[] =>
  need === 'restart' ? slotsOf(target!.service) : need === 'stall' ? slotsOf('experts') : [];

const slotsOf = (service: string): readonly string[] => processSlots.filter((slot) => slot.startsWith(service));

/** How often a client says that it leaves. */
export const triesToLeave = 5;

function deadlyFor(service: CrashPoint['service'], need: Need | null): StormPlan['deadly'] {
  if (need === 'deadly') return { service, point: 'point.after-poll', side: 'before', deaths: 3 };
  // With one death less, the next handler of the record has the time to wait.
  if (need === 'suspect') return { service, point: 'point.after-poll', side: 'before', deaths: 2 };
  // A gateway that dies here has parked the run, and has not cancelled it; its client tries it that often.
  return need === 'parked' ? { service: 'gateway', point: 'runs.leave', side: 'after', deaths: triesToLeave } : null;
}

function planOutage(random: Random, from: number): StormPlan['outages'][number] {
  const store = random.pick(['state', 'state', 'log', 'blobs', 'graph', 'vectors'] as const);
  const process = random.chance(0.5) ? null : random.pick(processSlots);
  return { store, from, to: from + random.between(200, 9_000), process, share: random.pick([1, 1, 0.4]) };
}
