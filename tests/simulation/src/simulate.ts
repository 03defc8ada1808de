import { type Violation, evidenceOf, type Check } from './checks/check.js';
import type { CoverageNote, CrashTarget } from './faults/crash-points.js';
import { randomFrom } from './faults/random.js';
import type { Told } from './world/observations.js';
import type { Planted, Surroundings } from './world/surroundings.js';
import { beginVirtualTime } from './world/virtual-time.js';
import { World } from './world/world.js';
import { appends, outcomes, replay, retries, terminal } from './checks/runs.js';
import { childRuns } from './checks/child-runs.js';
import { childCommands, deletions, ratings, tenants } from './checks/owners.js';
import { caches, documents, effects, idempotency, usage } from './checks/kept.js';
import { stream } from './checks/stream.js';
import { calls, cancel, deadLetters, durable, nothingLeft } from './checks/work.js';

export interface SimulationOptions {
  readonly seed: number;
  readonly target?: CrashTarget | null;
  readonly planted?: Planted;
  readonly cover?: (note: CoverageNote) => void;
  readonly line?: (line: string) => void;
}
export interface SimulationResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly accepted: number;
  /** Runs that ended with an answer. */
  readonly answered: number;
  readonly deaths: number;
  readonly calls: number;
  /** Calls of a step beyond its first. */
  readonly repeated: number;
  readonly superseded: number;
  /** Runs that were rated and deleted, commands that child runs took, and attempts on the runs of another tenant. */
  readonly rated: number;
  readonly deleted: number;
  readonly directed: number;
  readonly strange: number;
  readonly virtualMs: number;
  readonly traceHash: string;
}

/** Milliseconds of virtual time after which work still in progress counts as left over. */
const longestMs = 400_000;

/**
 * Creates one world from its seed, drives it through a storm, leaves it alone until it is quiet, and judges it. The same options produce
 * the same result, including the trace. Throws if a process cannot start for any reason other than a simulated fault.
 */
export async function simulate({
  seed,
  target = null,
  planted,
  cover = () => undefined,
  line,
}: SimulationOptions): Promise<SimulationResult> {
  const time = beginVirtualTime();
  const realChance = Math.random;
  // The planner uses Math.random to choose among models.
  const chance = randomFrom(seed).fork('chance');
  Math.random = () => chance.next();
  let world: World | null = null;
  try {
    world = new World({ seed, target, cover, ...(planted ? { planted } : {}), ...(line ? { line } : {}) });
    world.begin();
    while (world.broken === null && time.elapsed() < longestMs && !world.quiet() && (await time.step()));
    if (world.broken) throw world.broken;
    let closed = false;
    if (world.plan.closes) {
      void world.close().then(() => {
        closed = true;
      });
      const until = time.elapsed() + 60_000;
      while (!closed && time.elapsed() < until && (await time.step()));
    }
    const virtualMs = time.elapsed();
    // Nothing changes while the world is judged, and nothing of it continues in the next one.
    world.halt();
    const violations = [...(await judge(world))];
    if (world.plan.closes && !closed) violations.push({ check: '8 nothing left', id: 'processes', sentence: 'did not close within 60 s' });
    if (closed && world.stores.hints.listening > 0 && world.observations.deaths.length === 0)
      violations.push({
        check: '8 nothing left',
        id: `${world.stores.hints.listening} subscriptions`,
        sentence: 'were left behind by processes that closed',
      });
    return { ...summary(world), seed, violations, virtualMs, traceHash: world.traceHash.toString(16).padStart(8, '0') };
  } finally {
    world?.halt();
    await time.end();
    Math.random = realChance;
  }
}

function summary(world: World) {
  const { calls, accepted, deaths, ratings, deletions, directed, strange } = world.observations;
  const done = (all: readonly { readonly told: Told<unknown> | null }[]): number => all.filter(({ told }) => told?.kind === 'done').length;
  const rows = [...world.stores.runs.rows.values()];
  return {
    accepted: new Set(accepted.map(({ runId }) => runId)).size,
    answered: rows.filter(({ terminal, status }) => terminal && status !== 'cancelled' && status !== 'failed').length,
    deaths: deaths.length,
    ...{ rated: done(ratings), deleted: done(deletions), directed: done(directed), strange: strange.length },
    calls: calls.length,
    repeated: calls.length - new Set(calls.map(({ step }) => step)).size,
    superseded: [...world.stores.stream.streams.values()].reduce(
      (sum, { entries }) => sum + entries.filter(({ body }) => body.includes('"superseded"')).length,
      0,
    ),
  };
}

const checks: readonly Check[] = [
  ...[terminal, appends, outcomes, durable, stream, calls, replay, nothingLeft, deadLetters, retries, cancel],
  ...[idempotency, caches, effects, usage, documents, childRuns],
  ...[ratings, deletions, childCommands, tenants],
];

/** Every violation of every check in a finished world. */
async function judge(world: Surroundings): Promise<readonly Violation[]> {
  const evidence = await evidenceOf(world);
  return checks.flatMap((check) => check(evidence));
}
