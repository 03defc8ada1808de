import { onDataCheck } from '@conclave/contracts';
import { watchStore } from '@conclave/adapter-sqlite/suites';
import { until } from '@conclave/test-support';
import { nextRunId, RunStarter } from '../committee/run-starter.js';
import { committeeServices, startServices } from '../committee/services.js';
import { Closing } from '../processes/closing.js';
import { Scratch } from '../processes/scratch.js';

/** Counted costs of a run. */
export interface RunCounts {
  readonly transactions: number;
  readonly awaited: number;
  readonly statements: number;
  readonly bytes: number;
  readonly states: number;
  readonly checks: number;
}

export interface Counted {
  readonly counts: RunCounts;
  /** Statements of the last run, most frequent first. */
  readonly statements: readonly (readonly [source: string, times: number])[];
  /** Bytes added by the last run, per table. */
  readonly bytes: Readonly<Record<string, number>>;
}

/**
 * Runs the committee of B2 in embedded mode, one run after the other, and counts the work of each until all its records are
 * finished. Reports the minimum of each count: a busy machine may split a transaction, but never merges two.
 */
export async function countRuns(runs: number): Promise<Counted> {
  const closing = new Closing();
  const scratch = new Scratch();
  closing.add(() => scratch.remove());
  let now = { transactions: 0, awaited: 0, statements: 0, states: 0, checks: 0 };
  let sources = new Map<string, number>();
  try {
    const home = scratch.home('counted', { providers: { bench: { base_url: 'http://127.0.0.1:9/v1', paid: false } } });
    const services = await startServices({ CONCLAVE_HOME: home }, home, 'standalone', committeeServices, {
      statement(source) {
        now.statements += 1;
        sources.set(source, (sources.get(source) ?? 0) + 1);
      },
      committed(awaited) {
        now.transactions += 1;
        if (awaited) now.awaited += 1;
      },
      stateStored: () => void (now.states += 1),
    });
    closing.add(() => services.close());
    closing.add(onDataCheck(() => void (now.checks += 1)));
    const starter = await RunStarter.open(services.ports);
    closing.add(() => starter.close());
    const store = watchStore(home);
    closing.add(() => store.close());
    const counted: RunCounts[] = [];
    let added: Record<string, number> = {};
    // The first run warms up and is not counted.
    for (let run = 0; run <= runs; run += 1) {
      const before = store.rowBytes();
      now = { transactions: 0, awaited: 0, statements: 0, states: 0, checks: 0 };
      sources = new Map();
      await starter.run(nextRunId());
      await until('every record of the run is finished', () => store.unfinished() === 0);
      const after = store.rowBytes();
      added = Object.fromEntries(Object.keys(after).map((table) => [table, after[table]! - before[table]!]));
      if (run > 0) counted.push({ ...now, bytes: Object.values(added).reduce((sum, bytes) => sum + bytes, 0) });
    }
    const least = (of: keyof RunCounts): number => Math.min(...counted.map((counts) => counts[of]));
    return {
      counts: {
        transactions: least('transactions'),
        awaited: least('awaited'),
        statements: least('statements'),
        bytes: least('bytes'),
        states: least('states'),
        checks: least('checks'),
      },
      statements: [...sources].sort(([, a], [, b]) => b - a),
      bytes: added,
    };
  } finally {
    await closing.run();
  }
}
