/** A figure that a target stands beside. */
export interface Finding {
  readonly what: string;
  readonly value: number;
  readonly target: { readonly atLeast?: number; readonly atMost?: number };
}

export interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

export interface EvaluationReport {
  /** Sentences that say what was counted and how, so that the figures can be judged. */
  readonly definition: readonly string[];
  readonly sections: readonly Section[];
  readonly findings: readonly Finding[];
  /** What is missing or to be kept in mind. */
  readonly notes: readonly string[];
  /** All figures for programs: what `--json` prints beside the findings. */
  readonly figures: Readonly<Record<string, unknown>>;
}

export interface Evaluation {
  readonly id: string;
  readonly title: string;
  run(): Promise<EvaluationReport>;
}

/** Judged on the unrounded value. */
export const isMet = ({ value, target: { atLeast, atMost } }: Finding): boolean =>
  (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);
