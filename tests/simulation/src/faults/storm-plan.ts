import type { CrashTarget } from './crash-points.js';
import { randomFrom, type Random } from './random.js';

export type StoreKind = 'state' | 'log' | 'blobs' | 'graph' | 'models' | 'search' | 'inside';

/** What a seed decides beforehand. Probabilities are per port call unless they say otherwise; times in milliseconds from the beginning. */
export interface StormPlan {
  readonly target: CrashTarget | null;
  readonly endsAt: number;
  readonly crash: number;
  readonly delay: number;
  readonly longestDelayMs: number;
  /** A single call that fails although the store is there, before or after its effect. */
  readonly hiccup: number;
  readonly outages: readonly {
    readonly store: StoreKind;
    readonly from: number;
    readonly to: number;
    readonly process: string | null;
    /** Of the calls. */ readonly share: number;
  }[];
  readonly freezes: readonly { readonly process: string; readonly at: number; readonly forMs: number }[];
  readonly rebalances: readonly { readonly process: string; readonly at: number }[];
  readonly restarts: readonly { readonly process: string; readonly at: number }[];
  /** Per published event. */
  readonly duplicate: number;
  /** Per batch: its order is changed; per delivery: it is held back. */
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
  /** Per client: that it cancels or leaves, and that it asks again before its first request is answered. */
  readonly cancels: number;
  readonly impatient: number;
  readonly closes: boolean;
}

/** Slots of processes; every incarnation of one has an id of its own. */
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

/** Each seed takes some kinds of faults and leaves others out, so that none hides behind another. */
export function planStorm(seed: number, target: CrashTarget | null): StormPlan {
  const random = randomFrom(seed).fork('plan');
  const some = (probability: number, value: () => number): number => (random.chance(probability) ? value() : 0);
  const endsAt = random.between(4_000, 14_000);
  const times = (most: number, probability: number): number[] =>
    random.chance(probability) ? Array.from({ length: random.between(1, most) }, () => random.below(endsAt)) : [];
  return {
    target,
    endsAt,
    crash: some(0.5, () => random.next() * 0.004),
    delay: some(0.9, () => 0.05 + random.next() * 0.3),
    longestDelayMs: random.pick([5, 30, 150, 600]),
    hiccup: some(0.35, () => random.next() * 0.01) + (target?.need === 'outage' ? 0.03 : 0),
    outages: times(2, target?.need === 'outage' ? 1 : 0.3).map((from) => planOutage(random, from)),
    freezes: times(2, 0.25).map(() => ({
      process: random.pick(processSlots.slice(2)),
      at: random.between(500, 5_000),
      forMs: random.pick([random.between(1_000, 9_000), random.between(11_000, 18_000)]),
    })),
    rebalances: times(4, 0.3).map((at) => ({ process: random.pick(processSlots.slice(2)), at })),
    restarts:
      target?.need === 'restart'
        ? slotsOf(target.service).map((process) => ({ process, at: random.between(1_000, 3_000) }))
        : times(3, 0.2).map((at) => ({ process: random.pick(processSlots), at })),
    duplicate: some(0.4, () => random.next() * 0.15),
    reorder: some(0.4, () => random.next() * 0.3),
    hintLoss: some(0.3, () => random.next()),
    poison: target?.need === 'poison' ? [random.between(1_000, 3_000)] : times(2, 0.06),
    modelFault: some(0.4, () => random.next() * 0.2),
    stall: some(0.25, () => random.next() * 0.3) + (target?.need === 'stall' ? 0.3 : 0),
    handlerFault: some(0.1, () => 0.1) + (target?.need === 'bug' ? 0.5 : 0),
    modelSlots: random.pick([1, 2, 4]),
    clients: target?.service === 'graph-ingest' ? 2 : random.pick([1, 1, 1, 2]),
    largeQuestion: target?.need === 'large' || random.chance(0.01),
    rounds: random.pick([0, 0, 1]),
    gapCheck: random.pick(['evidence', 'evidence', 'answer'] as const),
    twins: random.chance(0.15),
    cancels: target?.need === 'cancel' ? 1 : some(0.2, () => 0.7),
    impatient: target?.need === 'retry' ? 1 : some(0.15, () => 0.5),
    closes: random.chance(0.1) || target?.need === 'restart',
  };
}

const slotsOf = (service: string): readonly string[] => processSlots.filter((slot) => slot.startsWith(service));

function planOutage(random: Random, from: number): StormPlan['outages'][number] {
  const store = random.pick(['state', 'state', 'log', 'blobs', 'graph'] as const);
  const process = random.chance(0.5) ? null : random.pick(processSlots);
  return { store, from, to: from + random.between(200, 9_000), process, share: random.pick([1, 1, 0.4]) };
}
