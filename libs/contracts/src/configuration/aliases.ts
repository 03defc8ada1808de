import * as z from 'zod';

/** Maximum number of models in one alias. */
const mostModels = 8;

// The check of references verifies that each name is a model and not a template, because it can report this in a sentence.
const ModelNames = z
  .array(z.string().min(1))
  .min(1)
  .max(mostModels)
  .meta({ expected: `a list of up to ${mostModels} models` });

/** Several models, one of which answers each request that is passed on. */
export const ModelChoice = z.strictObject({
  models: ModelNames.describe('model@provider, best first'),
  use: z
    .enum(['fallback', 'balance'])
    .default('fallback')
    .describe(
      'fallback: the first that answers, in this order; balance: the one with the fewest open calls in the process, in turn among equals, then the others',
    ),
});
export type ModelChoice = z.infer<typeof ModelChoice>;

export const AliasTarget = z
  .union([z.string().min(1), ModelNames, ModelChoice])
  .meta({ expected: 'a template, model@provider, a list of models, or `models` with `use: fallback` or `use: balance`' });
export type AliasTarget = z.infer<typeof AliasTarget>;

/** The models of an alias with several; null for an alias of a single template or model. */
export function choiceOf(target: AliasTarget): ModelChoice | null {
  if (typeof target === 'string') return null;
  return 'models' in target ? target : { models: target, use: 'fallback' };
}
