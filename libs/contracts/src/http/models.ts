import * as z from 'zod';

export const ModelObject = z.object({
  id: z.string().describe('template id, alias, or `model@provider`'),
  object: z.literal('model'),
  created: z.int().describe('seconds since 1970'),
  owned_by: z.string().describe('`conclave` for templates and aliases, else the name of the provider'),
  description: z.string().optional(),
  strategy: z.string().optional().describe('for a template: the strategy of its runs'),
});
export type ModelObject = z.infer<typeof ModelObject>;

export const ModelList = z.object({ object: z.literal('list'), data: z.array(ModelObject) });
export type ModelList = z.infer<typeof ModelList>;
