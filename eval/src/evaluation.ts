import type { OwnMaterial } from './loop/own/material.js';

/** A figure with its target. */
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
  /** Caveats, and what is missing. */
  readonly notes: readonly string[];
  /** All figures for programs: what `--json` prints beside the findings. */
  readonly figures: Readonly<Record<string, unknown>>;
  /** The user interrupted it: the figures are those measured until then. */
  readonly cancelled?: boolean;
}

/** The user's own material; an evaluation that has no use for it ignores it. */
export interface EvaluationOptions {
  /** File of questions and paragraphs. */
  readonly set?: string | null;
  /** File of labelled pairs of questions. */
  readonly pairs?: string | null;
  /** Base URL of an embedding model behind `/v1/embeddings`, and its name. */
  readonly embeddings?: { readonly url: string; readonly model: string } | null;
  /** Questions for templates to answer. */
  readonly own?: OwnMaterial | null;
  /** Asks the built program over HTTP instead of calling its parts. */
  readonly served?: boolean;
}

export interface Evaluation {
  readonly id: string;
  readonly title: string;
  run(options?: EvaluationOptions): Promise<EvaluationReport>;
}

/** Judged on the unrounded value. */
export const isMet = ({ value, target: { atLeast, atMost } }: Finding): boolean =>
  (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);
