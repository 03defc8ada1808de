import type { Service } from '@conclave/contracts';

export interface CrashPoint {
  readonly service: Service;
  /** `<port>.<method>`, or `point.<name>` for a point inside the process. */
  readonly point: string;
  readonly side: 'before' | 'after';
}
/** What a scenario must contain for a point to be passed. */
export type Need =
  | 'outage'
  | 'restart'
  | 'stop'
  | 'rebalance'
  | 'early'
  | 'deadly'
  | 'suspect'
  | 'parked'
  | 'poison'
  | 'stall'
  | 'bug'
  | 'large'
  | 'cancel'
  | 'retry'
  | 'sick'
  | 'tiers'
  | 'tools'
  | 'knowledge'
  | 'lookup'
  | 'topics'
  | 'children'
  | 'rating'
  | 'deletion';
export interface CrashTarget extends CrashPoint {
  /** Which passage it is: the first, the second, ... */
  readonly nth: number;
  readonly need: Need | null;
}
export interface CoverageNote extends CrashPoint {
  readonly crashed: boolean;
}

/**
 * Every port call that a service makes, by port. The list does not depend on what a run happens to pass: a call that is missing from the
 * table fails the simulation until it is added, and so does a point of the table at which no process was killed.
 */
const table: Readonly<Partial<Record<Service, Readonly<Record<string, string>>>>> = {
  gateway: {
    blobs: 'put',
    caches: 'read removeTagged write',
    embedder: 'embed',
    graph: 'forget',
    hints: 'subscribe',
    identity: 'read start',
    leases: 'endProcess renewProcess',
    log: 'erase health publish',
    'log.identity': 'read write',
    once: 'claim',
    point: 'after-accept after-publish',
    runs: 'accept attach cancel cancelled erase erased findRetry header leave nextCommandSeq read',
    settings: 'read remove write',
    state: 'health now',
    stream: 'read',
    vectors: 'delete list query',
  },
  planner: {
    blobs: 'get put',
    breakers: 'read swap',
    deliveries: 'begin done failed released unended',
    embedder: 'embed',
    graph: 'retrieve stats',
    hints: 'publish subscribe',
    identity: 'read start',
    journal: 'abandon begin finish noteRepeat started',
    leases: 'acquireSlot endProcess releaseSlot renewProcess',
    log: 'commit publish publishDead subscribe',
    'log.identity': 'read write',
    models: 'call providers',
    point: 'after-call after-commit after-poll after-publish before-call before-publish mid-stream reply-ordered',
    runs: 'cancelled header nextCommandSeq read',
    scores: 'read',
    search: 'query',
    state: 'now',
    stream: 'append',
    vectors: 'count match query',
  },
  experts: {
    blobs: 'get',
    breakers: 'read swap',
    caches: 'claim read release write',
    deliveries: 'begin done failed released unended',
    embedder: 'embed',
    graph: 'retrieve',
    hints: 'publish subscribe',
    identity: 'read start',
    journal: 'abandon begin finish noteRepeat started',
    leases: 'acquireSlot endProcess releaseSlot renewProcess',
    log: 'commit publish publishDead subscribe',
    'log.identity': 'read write',
    models: 'call providers',
    once: 'claim',
    point: 'after-call after-commit after-poll after-publish before-call before-publish mid-stream reply-ordered',
    runs: 'cancelled',
    search: 'query',
    state: 'now',
    stream: 'append',
    tools: 'call describe',
    vectors: 'list match query',
  },
  merger: {
    blobs: 'get put',
    breakers: 'read swap',
    caches: 'read removeTagged write',
    deliveries: 'begin done failed released unended',
    embedder: 'embed',
    hints: 'publish subscribe',
    identity: 'read start',
    journal: 'abandon begin finish noteRepeat started',
    leases: 'acquireSlot endProcess liveWorkers releaseSlot renewProcess',
    log: 'commit publish publishDead subscribe',
    'log.identity': 'read write',
    models: 'call providers',
    once: 'claim',
    point:
      'after-call after-commit after-poll after-publish before-call before-publish engine-committed engine-decided mid-stream reply-ordered timer-due timer-published',
    runs: 'accept cancel cancelled commit erased header nextCommandSeq park read unpublished',
    scores: 'add',
    state: 'now',
    stream: 'append',
    timers: 'due remove wait',
    vectors: 'count create delete list upsert',
    webhooks: 'post',
  },
  'graph-ingest': {
    blobs: 'get',
    caches: 'removeTagged write',
    deliveries: 'begin done failed released unended',
    embedder: 'embed',
    graph: 'addSynthesis adjustTrust forget',
    identity: 'read start',
    leases: 'endProcess renewProcess',
    log: 'commit publishDead subscribe',
    'log.identity': 'read write',
    point: 'after-commit after-poll after-publish before-publish',
    runs: 'erased',
    settings: 'read write',
    state: 'now',
    vectors: 'create delete upsert',
  },
};

/** All points, in a fixed order. A point inside a process has no before and after. */
export const declaredPoints: readonly CrashPoint[] = Object.entries(table).flatMap(([service, ports]) =>
  Object.entries(ports).flatMap(([port, methods]) =>
    methods.split(' ').flatMap((method) => {
      const point = `${port}.${method}`;
      const sides = port === 'point' ? (['before'] as const) : (['before', 'after'] as const);
      return sides.map((side): CrashPoint => ({ service: service as Service, point, side }));
    }),
  ),
);

export const keyOf = ({ service, point, side }: CrashPoint): string => `${service} ${point} ${side}`;

/** Whole ports that only some features use. */
const needsOfPorts: Readonly<Record<string, Need>> = {
  caches: 'knowledge',
  embedder: 'knowledge',
  graph: 'knowledge',
  scores: 'tiers',
  settings: 'knowledge',
  tools: 'tools',
  vectors: 'knowledge',
};

const needs: Readonly<Record<string, Need>> = {
  'gateway runs.erase': 'deletion',
  'gateway runs.erased': 'deletion',
  'gateway log.erase': 'deletion',
  'gateway graph.forget': 'deletion',
  'gateway vectors.list': 'deletion',
  'graph-ingest graph.forget': 'deletion',
  'merger caches.removeTagged': 'rating',
  'merger vectors.list': 'rating',
  'graph-ingest graph.adjustTrust': 'rating',
  'experts caches.claim': 'topics',
  'experts caches.read': 'topics',
  'experts caches.write': 'topics',
  'experts caches.release': 'topics',
  'planner runs.header': 'restart',
  'planner search.query': 'lookup',
  'merger runs.accept': 'children',
  'merger runs.header': 'early',
  'merger runs.read': 'stall',
  'merger runs.nextCommandSeq': 'deadly',
  'merger runs.cancel': 'parked',
  'planner runs.nextCommandSeq': 'deadly',
  'planner deliveries.failed': 'suspect',
  'graph-ingest deliveries.failed': 'suspect',
  'gateway once.claim': 'retry',
  'gateway runs.header': 'retry',
  'gateway runs.cancelled': 'retry',
  'blobs.get': 'large',
  'blobs.put': 'large',
  'breakers.swap': 'sick',
  'deliveries.failed': 'bug',
  'deliveries.released': 'rebalance',
  'identity.read': 'restart',
  'identity.start': 'restart',
  'journal.abandon': 'outage',
  'journal.noteRepeat': 'restart',
  'leases.endProcess': 'stop',
  'leases.liveWorkers': 'stall',
  'leases.renewProcess': 'restart',
  'log.identity.read': 'restart',
  'log.identity.write': 'restart',
  'log.publishDead': 'poison',
  'log.subscribe': 'restart',
  'once.claim': 'restart',
  'point.timer-due': 'stall',
  'point.timer-published': 'stall',
  'runs.attach': 'cancel',
  'runs.cancel': 'cancel',
  'runs.leave': 'cancel',
  'runs.findRetry': 'retry',
  'runs.nextCommandSeq': 'cancel',
  'timers.remove': 'stall',
};

/** Points that are passed again and again during a run; the others are passed a few times. */
const turns = [1, 2, 1, 4, 1, 3, 1, 7];

const needOf = ({ service, point }: CrashPoint): Need | null =>
  needs[`${service} ${point}`] ?? needs[point] ?? needsOfPorts[point.split('.', 1)[0]!] ?? null;

/** Passed so rarely that they are aimed at only when all other seeds missed them. */
const rarely: ReadonlySet<string> = new Set(['merger runs.cancel']);
const aimedPoints = declaredPoints.filter(({ service, point }) => !rarely.has(`${service} ${point}`));

/** The first passage of a point, by its key; null for a key that is in no table. */
export function aimAt(key: string): CrashTarget | null {
  const point = declaredPoints.find((declared) => keyOf(declared) === key);
  return point ? { ...point, nth: 1, need: needOf(point) } : null;
}

/** The point at which a process of this seed is killed; every fifth seed has none, so that other faults can be seen on their own. */
export function targetOf(seed: number): CrashTarget | null {
  if (seed % 5 === 4) return null;
  const n = seed - Math.floor(seed / 5);
  const point = aimedPoints[n % aimedPoints.length]!;
  const nth = turns[Math.floor(n / aimedPoints.length) % turns.length]!;
  return { ...point, nth, need: needOf(point) };
}

/** Points that were passed, and points at which processes were killed, over many seeds. */
export class Coverage {
  readonly passed = new Map<string, number>();
  readonly killed = new Map<string, number>();

  readonly note = (note: CoverageNote): void => {
    const counts = note.crashed ? this.killed : this.passed;
    const key = keyOf(note);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };

  /** Points of the table at which no process with work in flight was killed. */
  missed(): readonly string[] {
    return declaredPoints.map(keyOf).filter((key) => !this.killed.has(key));
  }

  /** Points that were passed but are in no table. */
  undeclared(): readonly string[] {
    const declared = new Set(declaredPoints.map(keyOf));
    return [...this.passed.keys()].filter((key) => !declared.has(key));
  }

  report(): string {
    const deaths = [...this.killed.values()].reduce((sum, count) => sum + count, 0);
    return `${declaredPoints.length - this.missed().length} of ${declaredPoints.length} crash points hit, ${deaths} deaths with work in flight`;
  }
}
