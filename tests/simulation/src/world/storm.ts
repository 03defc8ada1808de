import { Failure, type Service } from '@conclave/contracts';
import type { CoverageNote, CrashPoint } from '../faults/crash-points.js';
import { randomFrom, type Random } from '../faults/random.js';
import type { StormPlan, StoreKind } from '../faults/storm-plan.js';
import type { Observations } from './observations.js';
import { beginning, sleep, virtualNow } from './virtual-time.js';

/** Stores that sometimes fail although they are available; models, tools and search have separate faults. */
const ours: ReadonlySet<StoreKind> = new Set(['state', 'log', 'blobs', 'graph', 'vectors']);

export const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** The parts of a process that a storm reads and changes. */
export interface Exposed {
  readonly service: Service;
  /** Its slot in the plan, such as `merger-1`. */
  readonly slot: string;
  readonly id: string;
  readonly dead: boolean;
  /** Milliseconds since 1970 until which nothing it sends or receives gets through. */
  readonly frozenUntil: number;
  readonly world: { busy(): boolean };
  die(point: string): void;
}

/** Decides at every port call which fault occurs there, from the plan and one stream of random numbers. */
export class Storm {
  private readonly random: Random;
  private targetLeft: number;
  private deadlyLeft: number;

  constructor(
    readonly plan: StormPlan,
    seed: number,
    private readonly observations: Observations,
    private readonly trace: (process: string, what: string) => void,
    private readonly note: (coverage: CoverageNote) => void,
  ) {
    this.random = randomFrom(seed).fork('storm');
    this.targetLeft = plan.target?.nth ?? 0;
    this.deadlyLeft = plan.deadly?.deaths ?? 0;
  }

  get over(): boolean {
    return virtualNow() - beginning >= this.plan.endsAt;
  }

  /**
   * Called before the effect of a call. Returns undefined to continue at once, otherwise a wait that ends with the error to throw after the
   * effect. Throws the error to fail with before the effect.
   */
  before(process: Exposed, point: string, store: StoreKind): Promise<Failure | null> | undefined {
    if (this.passes(process, point, 'before')) return never();
    const delayMs = this.delayMs(process);
    const failure = this.failure(process, store);
    if (failure === null) return delayMs > 0 ? sleep(delayMs).then(() => null) : undefined;
    // A subscription lives in the process itself: if it fails, it does not exist.
    const afterEffect = this.random.chance(0.3) && point !== 'hints.subscribe';
    this.trace(process.id, `${point} fails ${afterEffect ? 'after' : 'before'} its effect`);
    return sleep(delayMs + 5).then(() => {
      if (!afterEffect) throw failure;
      return failure;
    });
  }

  after(process: Exposed, point: string): Promise<void> | undefined {
    if (this.passes(process, point, 'after')) return never();
    const delayMs = this.delayMs(process);
    return delayMs > 0 ? sleep(delayMs) : undefined;
  }

  /** A point inside the process where nothing can wait. */
  inside(process: Exposed, point: string): void {
    if (!process.dead) this.passes(process, `point.${point}`, 'before');
  }

  chance(probability: number): boolean {
    return !this.over && probability > 0 && this.random.chance(probability);
  }
  /** Milliseconds of delay. */
  lateMs(most: number): number {
    return this.random.between(1, most);
  }
  shuffled<T>(items: readonly T[]): T[] {
    return this.random.shuffled(items);
  }

  /** Records the point, and kills the process there if the plan says so. Returns whether it was killed. */
  private passes(process: Exposed, point: string, side: 'before' | 'after'): boolean {
    const { service, world } = process;
    this.note({ service, point, side, crashed: false });
    this.trace(process.id, `${side} ${point}`);
    const { target, deadly } = this.plan;
    const isHere = (at: CrashPoint | null): boolean => at?.service === service && at.point === point && at.side === side;
    let dies = false;
    if (this.targetLeft > 0 && isHere(target) && world.busy()) {
      this.targetLeft -= 1;
      dies = this.targetLeft === 0;
    }
    if (this.deadlyLeft > 0 && isHere(deadly)) {
      this.deadlyLeft -= 1;
      dies = true;
    }
    dies ||= this.chance(this.plan.crash);
    if (!dies) return false;
    if (world.busy()) this.note({ service, point, side, crashed: true });
    process.die(`${side} ${point}`);
    return true;
  }

  private delayMs(process: Exposed): number {
    const frozen = process.frozenUntil === 0 ? 0 : Math.max(0, process.frozenUntil - virtualNow());
    const slow = this.chance(this.plan.delay) ? this.random.between(1, this.plan.longestDelayMs) : 0;
    return frozen + slow;
  }

  private failure(process: Exposed, store: StoreKind): Failure | null {
    const at = virtualNow() - beginning;
    const away = this.plan.outages.some(
      (outage) =>
        outage.store === store &&
        (outage.share === 1 || this.random.chance(outage.share)) &&
        at >= outage.from &&
        at < outage.to &&
        (outage.process === null || outage.process === process.slot),
    );
    if (!away && !(ours.has(store) && this.chance(this.plan.hiccup))) return null;
    if (store === 'log') return new Failure('LOG_UNAVAILABLE', 'Simulated: it is unavailable.');
    if (store === 'vectors') return new Failure('VECTORS_UNAVAILABLE', 'Simulated: they are unavailable.');
    if (store === 'graph') return new Failure('GRAPH_UNAVAILABLE', 'Simulated: it is unavailable.');
    return new Failure('STORE_UNAVAILABLE', 'Simulated: it is unavailable.');
  }
}
