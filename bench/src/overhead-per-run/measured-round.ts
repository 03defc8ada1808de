import { hostMethods } from '../processes/worker-host.js';

export interface RoundOrder {
  readonly runs: number;
  readonly concurrency: number;
}

export interface RoundResult {
  /** Milliseconds from the first start to the last end. */
  readonly wallMs: number;
  /** Milliseconds of processor time of the process in that time, all threads. */
  readonly cpuMs: number;
  /** Milliseconds of every single run. */
  readonly runMs: readonly number[];
  /** Model calls of all runs. */
  readonly calls: number;
}

/** A system that runs the committee from question to answer. `run` throws if it does not end as scripted. */
export interface MeasuredSystem {
  /** Versions and settings that matter for the comparison, for the report. */
  readonly facts: readonly string[];
  run(): Promise<void>;
  calls(): number;
  close(): Promise<void>;
}

async function measureRound(system: MeasuredSystem, { runs, concurrency }: RoundOrder): Promise<RoundResult> {
  const runMs: number[] = [];
  let left = runs;
  const callsBefore = system.calls();
  const cpu = process.cpuUsage();
  const from = performance.now();
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const began = performance.now();
      await system.run();
      runMs.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const wallMs = performance.now() - from;
  const used = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (used.user + used.system) / 1_000, runMs, calls: system.calls() - callsBefore };
}

/** Turns this process into a worker that measures rounds of the system. */
export function hostRounds(system: MeasuredSystem): void {
  hostMethods({ facts: () => system.facts, round: (order: RoundOrder) => measureRound(system, order) }, () => system.close());
}
