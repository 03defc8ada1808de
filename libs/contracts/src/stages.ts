import * as z from 'zod';

/** What a run is doing, as a stable code for programs, with a sentence for people beside it. */
export const stages = [
  'routing',
  'discovering',
  'retrieving',
  'reading',
  'summarizing',
  'evaluating',
  'refining',
  'decomposing',
  'researching_parallel',
  'synthesizing',
  'generating',
  'done',
] as const;
export const StageCode = z.enum(stages);
export type StageCode = z.infer<typeof StageCode>;
