import type { Statements, Store, Tick } from '../database/database.js';
import { Kept } from '../kept.js';

/** The newest attempt of a step. */
export interface JournalStep {
  readonly attempt: number;
  /** The process working on it; null when it was abandoned. */
  readonly owner: string | null;
  readonly opening: number;
  readonly nonce: string;
  readonly repeated: boolean;
  /** Whether its outcome is stored. */
  readonly done: boolean;
}

interface StepRow extends Omit<JournalStep, 'repeated' | 'done'> {
  readonly step: string;
  readonly repeated: 0 | 1;
  readonly done: 0 | 1;
}

/** A changed row that is not written yet. */
interface Changed {
  readonly runId: string;
  readonly step: string;
  readonly row: JournalStep;
  readonly at: number;
  /** The stored outcome; asked when the row is written. */
  readonly outcome: () => string | null;
}

/** Maximum number of runs whose steps stay in memory. */
const mostKept = 512;
/** Most rows of one statement. */
const rowsAtOnce = 32;

/** Calls of busy runs without their outcomes; shared by all users of a database. All rows changed in a tick are written with its commit. */
export class JournalSteps {
  private readonly changed = new Map<string, Changed>();
  private readonly kept = new Kept<Map<string, JournalStep>>(mostKept, (steps) => this.changing.has(steps));
  /** Steps of the runs with changed rows. */
  private readonly changing = new Set<ReadonlyMap<string, JournalStep>>();

  constructor(private readonly database: Store) {}

  /** The calls of a run, by step. */
  of(runId: string): ReadonlyMap<string, JournalStep> {
    return this.stepsOf(runId);
  }

  /** Changes a step as part of a write; takes effect at once. */
  change(
    tick: Tick,
    { runId, step }: Pick<Changed, 'runId' | 'step'>,
    row: JournalStep,
    { at, outcome }: Pick<Changed, 'at' | 'outcome'>,
  ): void {
    tick.afterWrite(() => {
      const steps = this.stepsOf(runId);
      steps.set(step, row);
      this.changing.add(steps);
      this.changed.set(`${runId} ${step}`, { runId, step, row, at, outcome });
      this.database.beforeCommit(this, (sql) => this.write(sql));
    });
  }

  private stepsOf(runId: string): Map<string, JournalStep> {
    return this.kept.get(runId) ?? this.kept.set(runId, this.load(runId));
  }

  forget(runId: string): void {
    this.kept.forget(runId);
  }

  forgetAll(): void {
    this.kept.forgetAll();
  }

  private load(runId: string): Map<string, JournalStep> {
    const rows = this.database.read((sql) =>
      sql.all<StepRow>(
        'SELECT step, attempt, owner, opening, nonce, repeated, outcome IS NOT NULL AS done FROM journal WHERE run_id = ?',
        runId,
      ),
    );
    return new Map(
      rows.map(({ step, attempt, owner, opening, nonce, repeated, done }) => [
        step,
        { attempt, owner, opening, nonce, repeated: repeated === 1, done: done === 1 },
      ]),
    );
  }

  private write(sql: Statements): void {
    const rows = [...this.changed.values()].map(({ runId, step, row, at, outcome }) => {
      const { attempt, owner, opening, nonce, repeated } = row;
      return [runId, step, attempt, owner, opening, nonce, repeated ? 1 : 0, outcome(), at];
    });
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const some = rows.slice(from, from + rowsAtOnce);
      sql.run(
        `INSERT OR REPLACE INTO journal (run_id, step, attempt, owner, opening, nonce, repeated, outcome, at)
         VALUES ${some.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
        ...some.flat(),
      );
    }
    this.changed.clear();
    this.changing.clear();
  }
}
