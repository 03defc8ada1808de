import type { Template } from '@conclave/contracts';

/** What a template says about the pipeline. Recorded ones of the first version say nothing: nothing of it happened in their runs. */
export interface PipelineOptions {
  readonly thinking: boolean;
  readonly refineRounds: number;
  /** Categories whose answers are reviewed. */
  readonly reviewed: readonly string[];
}

export const optionsOf = (template: Template): PipelineOptions => ({
  thinking: template.thinking ?? false,
  refineRounds: template.refine_rounds ?? 0,
  reviewed: template.critic?.categories ?? [],
});
