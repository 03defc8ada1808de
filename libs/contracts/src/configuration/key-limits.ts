import * as z from 'zod';

const most = (what: string) => z.int().positive().nullable().default(null).describe(`${what}; null = no limit`);
const atMost = (what: string) => z.number().positive().nullable().default(null).describe(`${what}; null = no limit`);

/** Limits of an API key or of a tenant, over all gateways. Days and months are those of UTC. */
export const KeyLimits = z.strictObject({
  requests_per_minute: most('requests that start work in any 60 seconds'),
  tokens_per_minute: most('tokens, of prompts and replies together, in any 60 seconds'),
  concurrent_runs: most('runs and direct calls that are open at once'),
  tokens_per_day: most('tokens a day'),
  tokens_per_month: most('tokens a month'),
  cost_per_day: atMost('currency units a day'),
  cost_per_month: atMost('currency units a month'),
});
export type KeyLimits = z.infer<typeof KeyLimits>;
