/** A run as this process wrote it last. */
export interface KnownRun {
  readonly version: number;
  /** JSON; null for a run without state. */
  readonly state: string | null;
}

/** Runs and characters that are remembered at most. */
const bounds = { runs: 1_000, characters: 32 * 1024 * 1024 };

/**
 * Runs whose last step was written here, so that the next one needs no look at the store first. Whether it is still the last one the write
 * itself finds out: it compares versions.
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

  /** The store may be another one now. */
  clear(): void {
    this.runs.clear();
    this.characters = 0;
  }
}
