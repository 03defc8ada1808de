/** A run as last written by this process. */
export interface KnownRun {
  readonly version: number;
  /** JSON; null for a run without state. */
  readonly state: string | null;
}

/** Most runs and characters kept in memory. */
const bounds = { runs: 1_000, characters: 32 * 1024 * 1024 };

/**
 * Runs whose last step was written here, so that the next step needs no read first. The write compares versions, so stale entries are
 * harmless.
 */
export class KnownRuns {
  private readonly runs = new Map<string, KnownRun>();
  private characters = 0;

  constructor(private readonly limits: Readonly<typeof bounds> = bounds) {}

  get(runId: string): KnownRun | undefined {
    return this.runs.get(runId);
  }

  set(runId: string, run: KnownRun): void {
    this.forget(runId);
    this.runs.set(runId, run);
    this.characters += run.state?.length ?? 0;
    for (const oldest of this.runs.keys()) {
      if (this.runs.size <= this.limits.runs && this.characters <= this.limits.characters) break;
      this.forget(oldest);
    }
  }

  forget(runId: string): void {
    this.characters -= this.runs.get(runId)?.state?.length ?? 0;
    this.runs.delete(runId);
  }

  /** The store may have been replaced. */
  clear(): void {
    this.runs.clear();
    this.characters = 0;
  }
}
