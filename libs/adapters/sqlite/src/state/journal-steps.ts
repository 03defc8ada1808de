import type { Store } from '../database/database.js';
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

/** Most runs whose steps stay in memory. */
const mostKept = 512;

/** Calls of busy runs without their outcomes; shared by all users of a database. */
export class JournalSteps {
  private readonly kept = new Kept<Map<string, JournalStep>>(mostKept);

  constructor(private readonly database: Store) {}

  /** The calls of a run, by step. After changing a row, the caller updates this map too. */
  of(runId: string): Map<string, JournalStep> {
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
}
